package dev.puri.benchmarks.data;

import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.SchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Rows as the topology writes them for {@link Creations}. Each row is computed from its number. */
public final class Population {
    /** The schema id of the rows in the topic. */
    public static final int SCHEMA_ID = 1;

    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final byte[] APPLIED = ascii(Outcome.APPLIED.toString());
    private static final byte[] HANDLE_START = ascii("trk_");
    private static final Owner OWNER = new Owner("catalog");
    private static final Shard[] SHARDS = {new Shard("br-0"), new Shard("br-1"), new Shard("br-2")};

    /**
     * Number of producers. Creating records takes as long as sending them; more producers gain nothing on two cores.
     */
    private static final int PRODUCERS = 2;

    /** The number in the pURI of row 0. */
    static final long FIRST = 1_000_000_000L;

    private static final long FIRST_MILLIS =
            Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    private Population() {}

    /** Returns the pURI of the row with a number. */
    public static Puri puri(long number) {
        return Puri.parse("soundcloud:tracks:" + (FIRST + number));
    }

    /** Returns the handle of the row with a number. */
    public static Handle handle(long number) {
        return new Handle(new String(handleBytes(number), StandardCharsets.US_ASCII));
    }

    /**
     * Returns the text of the handle of the row with a number. Other numbers have other handles with the same prefix.
     */
    public static byte[] handleBytes(long number) {
        byte[] handle = Arrays.copyOf(HANDLE_START, Handle.LENGTH);
        long bits = mixed(number);
        for (int i = HANDLE_START.length; i < handle.length; i++) {
            handle[i] = (byte) Handle.ALPHABET.charAt((int) bits & 31);
            // Twelve characters use up the bits.
            bits = i == HANDLE_START.length + 11 ? mixed(~number) : bits >>> 5;
        }
        return handle;
    }

    /**
     * Returns the row with a number.
     *
     * @param version number of changes since the creation
     */
    public static Row row(long number, long version) {
        long millis = FIRST_MILLIS + number / 3;
        return new Row(
                new UUID(millis << 16 | 0x7000 | mixed(number) & 0xFFF, mixed(number + 1) >>> 2 | 1L << 63),
                OWNER,
                SHARDS[(int) ((number + version) % SHARDS.length)],
                handle(number),
                Row.Status.ACTIVE,
                1 + version,
                Instant.ofEpochMilli(millis + 1),
                Instant.ofEpochMilli(millis + 1 + 1000 * version),
                null,
                new Position(Topics.EVENTS, (int) (number & 7), (number >>> 3) + version));
    }

    /** Returns a number without a row, whose pURI follows the pURI of the given row in the order of keys. */
    public static long missing(long number) {
        return 10 * (FIRST + number) + 5 - FIRST;
    }

    /** The number and the handle of a row. */
    public record NumberedHandle(Handle handle, int number) {}

    /** Calls a function for the first rows in the order of their handles. */
    public static void forEachByHandle(int count, Consumer<NumberedHandle> action) {
        for (int firstLetter = 0; firstLetter < Handle.ALPHABET.length(); firstLetter++) {
            List<NumberedHandle> handles = new ArrayList<>();
            for (int number = 0; number < count; number++) {
                if ((mixed(number) & 31) == firstLetter) {
                    handles.add(new NumberedHandle(handle(number), number));
                }
            }
            handles.sort(Comparator.comparing(NumberedHandle::handle));
            handles.forEach(action);
        }
    }

    /** Publishes the rows of a range of numbers. */
    public static void publish(String bootstrapServers, long from, long to, long version) throws Exception {
        publish(bootstrapServers, from, to, () -> records(Population::puri, version));
    }

    /**
     * Returns a function from the number of a row to its record. Only one thread may use the function.
     *
     * @param names returns the pURI of the row with a number
     */
    public static LongFunction<ProducerRecord<byte[], byte[]>> records(LongFunction<Puri> names, long version) {
        return number -> {
            Row row = row(number, version);
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    Topics.IDENTITIES, names.apply(number).toBytes(), RowEncoder.encode(SCHEMA_ID, row));
            // The topology writes both headers.
            record.headers().add(Position.HEADER, ascii(row.position().toString()));
            record.headers().add(Outcome.HEADER, APPLIED);
            return record;
        };
    }

    /**
     * Publishes the records of a range of numbers.
     *
     * @param recordFunctions supplies, for each thread, a function from numbers to records
     */
    public static void publish(
            String bootstrapServers,
            long from,
            long to,
            Supplier<LongFunction<ProducerRecord<byte[], byte[]>>> recordFunctions)
            throws Exception {
        List<Future<?>> producers = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(PRODUCERS)) {
            for (int i = 0; i < PRODUCERS; i++) {
                long first = from + i;
                producers.add(pool.submit(() -> produce(bootstrapServers, first, to, recordFunctions.get())));
            }
            for (Future<?> producer : producers) {
                producer.get();
            }
        }
    }

    private static void produce(
            String bootstrapServers, long first, long to, LongFunction<ProducerRecord<byte[], byte[]>> records) {
        // Idempotence is not needed, because a row that is sent twice is still one row.
        send(
                bootstrapServers,
                "enable.idempotence",
                false,
                LongStream.iterate(first, number -> number < to, number -> number + PRODUCERS)
                        .mapToObj(records));
    }

    /** Sends records in large batches with one producer, which has one further property. Waits for acknowledgements. */
    static void send(
            String bootstrapServers, String property, Object value, Stream<ProducerRecord<byte[], byte[]>> records) {
        Map<String, Object> config =
                Map.of("bootstrap.servers", bootstrapServers, "linger.ms", 20, "batch.size", 1 << 17, property, value);
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            var unsent = records.iterator();
            while (unsent.hasNext() && failure.get() == null) {
                producer.send(unsent.next(), (sent, e) -> failure.compareAndSet(null, e));
            }
        }
        if (failure.get() != null) {
            throw new IllegalStateException("not all records were published", failure.get());
        }
    }

    /** Returns a table with this number of rows. */
    public static PackedTable table(int rows) {
        PackedTable table = new PackedTable();
        for (int number = 0; number < rows; number++) {
            table.put(puri(number), row(number, 0));
        }
        return table;
    }

    /** Returns the bytes of an ASCII text. */
    public static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the schema of the rows in the topic. */
    public static Schema schema() {
        return WRITER.schema();
    }

    /**
     * Returns a pseudo-random number (the finalizer of SplitMix64). It differs for each input, so handles are unique.
     */
    public static long mixed(long number) {
        long bits = number * 0x9E3779B97F4A7C15L;
        bits = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
        return bits ^ bits >>> 31;
    }

    /** Returns a schema registry in memory that has the schema of rows. */
    public static SchemaRegistry schemaRegistry() {
        SchemaRegistry registry = new InMemorySchemaRegistry();
        registry.register(Topics.IDENTITIES + "-value", schema());
        return registry;
    }
}
