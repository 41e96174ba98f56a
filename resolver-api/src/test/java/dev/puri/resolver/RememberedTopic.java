package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Writes {@code puri.identities.v1} as the topology does, in transactions of which some are aborted, and
 * remembers the resulting rows. A seed determines the records: rows are created, change, are deleted,
 * merged and erased, get handles, lose them and pass them on. A handle passes between names of one
 * partition, because only there the order of its owners is defined.
 *
 * <p>Names are changed in a moving window, so a change that a reader missed is not hidden by
 * another soon after.
 */
final class RememberedTopic implements AutoCloseable {
    private static final int WINDOW = 1_000;
    private static final int AT_ONCE = 30;

    /** Other names are merged into the first names, which change and are always active. */
    private static final int SURVIVORS = 9;

    private final int names;
    private final int partitions;
    private final int schemaId;
    private final Random random;
    private final RecordWriter<IdentityRow> writer = RecordWriter.of(IdentityRow.class);
    private final KafkaProducer<byte[], byte[]> producer;
    private final ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
    private @Nullable ScheduledFuture<?> writing;

    /** The rows of committed transactions, by the name's number; names without a row are missing. */
    private final Map<Integer, Row> rows = new HashMap<>();

    private final List<Handle> handles = new ArrayList<>();

    /** The changes of the open transaction. */
    private final Map<Integer, Optional<Row>> staged = new HashMap<>();

    private final List<Future<RecordMetadata>> sent = new ArrayList<>();

    private long version;

    RememberedTopic(String bootstrapServers, int partitions, int schemaId, int names, long seed) {
        this.names = names;
        this.partitions = partitions;
        this.schemaId = schemaId;
        this.random = new Random(seed);
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrapServers);
        config.put("transactional.id", "topology");
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
    }

    /** A row for every name. */
    void writeAll() throws ExecutionException, InterruptedException {
        pace.submit(() -> {
                    for (int from = 0; from < names; from += 5_000) {
                        producer.beginTransaction();
                        for (int number = from; number < Math.min(names, from + 5_000); number++) {
                            put(number, row(random.nextInt(3) == 0 ? null : newHandle(), Row.Status.ACTIVE));
                        }
                        commit();
                    }
                })
                .get();
    }

    /** Begins to write on, until {@link #pause}. */
    void resume() {
        writing = pace.scheduleWithFixedDelay(this::writeSome, 0, 10, TimeUnit.MILLISECONDS);
    }

    /**
     * Returns when all that was written is committed, or aborted.
     *
     * @throws ExecutionException when writing failed
     */
    void pause() throws ExecutionException, InterruptedException {
        ScheduledFuture<?> stopping = Objects.requireNonNull(writing);
        stopping.cancel(false);
        if (stopping.state() == ScheduledFuture.State.FAILED) {
            throw new ExecutionException(stopping.exceptionNow());
        }
        pace.submit(() -> {}).get();
    }

    /** The rows that the topic says; to be asked for while it is not written. */
    Map<Puri, Row> rows() {
        Map<Puri, Row> all = new HashMap<>();
        rows.forEach((number, row) -> all.put(name(number), row));
        return all;
    }

    /** All handles that were ever given, dropped ones and those of aborted rows too. */
    List<Handle> handles() {
        return List.copyOf(handles);
    }

    static Puri name(int number) {
        return Puri.of("n", "c", "name" + number);
    }

    private void writeSome() {
        producer.beginTransaction();
        for (int i = 0; i < AT_ONCE; i++) {
            change((int) ((version / 2 + random.nextInt(WINDOW)) % names));
        }
        if (random.nextInt(10) == 0) {
            producer.flush();
            producer.abortTransaction();
            sent.clear();
            staged.clear();
        } else {
            commit();
        }
    }

    private void change(int number) {
        Row before = before(number);
        Handle handle = before == null ? null : before.handle();
        if (number < SURVIVORS) {
            put(number, row(handle, Row.Status.ACTIVE));
            return;
        }
        switch (random.nextInt(10)) {
            case 0 -> put(number, null);
            case 1 -> put(number, row(null, Row.Status.ACTIVE));
            case 2 -> put(number, row(newHandle(), Row.Status.ACTIVE));
            case 3 -> put(number, row(handle, Row.Status.DELETED));
            case 4 -> put(number, row(handle, Row.Status.MERGED));
            case 5, 6 -> {
                // Passed on, by losing it or by being erased.
                int heir = number + partitions;
                if (heir < names && handle != null) {
                    put(number, random.nextBoolean() ? null : row(null, Row.Status.ACTIVE));
                    put(heir, row(handle, Row.Status.ACTIVE));
                }
            }
            default -> put(number, row(handle, Row.Status.ACTIVE));
        }
    }

    private @Nullable Row before(int number) {
        Optional<Row> changed = staged.get(number);
        return changed == null ? rows.get(number) : changed.orElse(null);
    }

    private void put(int number, @Nullable Row row) {
        staged.put(number, Optional.ofNullable(row));
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                Topics.IDENTITIES,
                number % partitions,
                name(number).toBytes(),
                row == null ? null : writer.encode(schemaId, RowAvro.toAvro(row)));
        Position event = row == null ? new Position(Topics.EVENTS, 0, version) : row.position();
        record.headers()
                .add(Position.HEADER, event.toString().getBytes(StandardCharsets.US_ASCII))
                .add(Outcome.HEADER, Outcome.APPLIED.toString().getBytes(StandardCharsets.US_ASCII));
        sent.add(producer.send(record));
    }

    private void commit() {
        producer.commitTransaction();
        assertThat(sent).allMatch(each -> each.state() == Future.State.SUCCESS);
        sent.clear();
        staged.forEach((number, row) -> {
            if (row.isPresent()) {
                rows.put(number, row.get());
            } else {
                rows.remove(number);
            }
        });
        staged.clear();
    }

    private Row row(@Nullable Handle handle, Row.Status status) {
        version++;
        return new Row(
                new UUID(random.nextLong(), version),
                new Owner("o" + version % 7),
                new Shard("s" + version % 5),
                handle,
                status,
                version,
                Instant.ofEpochMilli(1_767_225_600_000L + version),
                Instant.ofEpochMilli(1_767_225_600_000L + 3 * version),
                status == Row.Status.MERGED ? name(random.nextInt(SURVIVORS)) : null,
                new Position("puri.events.v1", 0, version));
    }

    private Handle newHandle() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt(handles.size() >>> Math.min(31, 5 * i) & 31));
        }
        Handle handle = Handle.of(new Prefix("trk"), text.toString());
        handles.add(handle);
        return handle;
    }

    @Override
    public void close() {
        pace.shutdownNow();
        producer.close();
    }
}
