package dev.puri.benchmarks;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.SchemaRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Rows as the topology leaves them of {@link Creations}, each known by its number alone. */
public final class Population {
    static final int SCHEMA_ID = 1;
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final byte[] APPLIED = ascii(Outcome.APPLIED.toString());
    private static final Prefix PREFIX = new Prefix("trk");
    private static final Owner OWNER = new Owner("catalog");
    private static final Shard[] SHARDS = {new Shard("br-0"), new Shard("br-1"), new Shard("br-2")};

    /** As many as pay on a small machine: making records takes as long as sending them. */
    private static final int PRODUCERS = 2;

    private static final long FIRST = 1_000_000_000L;
    private static final long FIRST_MILLIS =
            Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    private Population() {}

    /** The name of one. */
    public static Puri puri(long number) {
        return Puri.parse("soundcloud:tracks:" + (FIRST + number));
    }

    static Handle handle(long number) {
        StringBuilder text = new StringBuilder();
        long bits = mixed(number);
        for (int i = 0; i < 12; i++) {
            text.append(Handle.ALPHABET.charAt((int) (bits >>> 5 * i) & 31));
        }
        long more = mixed(~number);
        for (int i = 0; i < 3; i++) {
            text.append(Handle.ALPHABET.charAt((int) (more >>> 5 * i) & 31));
        }
        return Handle.of(PREFIX, text.toString());
    }

    /**
     * What stands under its name.
     *
     * @param version 0 as created
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

    /** A number that is nobody's, whose name stands in order right behind that of another. */
    static long missing(long number) {
        return 10 * (FIRST + number) + 5 - FIRST;
    }

    /** A number and the handle that follows from it. */
    record Named(Handle handle, int number) {}

    /** Shows the first so many by their handles' order, few at a time. */
    static void byHandle(int count, Consumer<Named> seen) {
        for (int first = 0; first < Handle.ALPHABET.length(); first++) {
            List<Named> some = new ArrayList<>();
            for (int number = 0; number < count; number++) {
                if ((mixed(number) & 31) == first) {
                    some.add(new Named(handle(number), number));
                }
            }
            some.sort(Comparator.comparing(Named::handle));
            some.forEach(seen);
        }
    }

    /** Puts those from one number up to before another into the identities topic. */
    static void publish(String bootstrapServers, long from, long to, long version) throws Exception {
        publish(bootstrapServers, from, to, () -> records(Population::puri, version));
    }

    /**
     * The rows as records, made for one thread.
     *
     * @param names whose row each is
     */
    static LongFunction<ProducerRecord<byte[], byte[]>> records(LongFunction<Puri> names, long version) {
        return number -> {
            Row row = row(number, version);
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    Topics.IDENTITIES, names.apply(number).toBytes(), RowEncoder.encode(SCHEMA_ID, row));
            // As the topology writes them: each record has both.
            record.headers().add(Position.HEADER, ascii(row.position().toString()));
            record.headers().add(Outcome.HEADER, APPLIED);
            return record;
        };
    }

    /**
     * Sends what is made of each number from one up to before another.
     *
     * @param makers gives each thread what makes its records
     */
    static void publish(
            String bootstrapServers, long from, long to, Supplier<LongFunction<ProducerRecord<byte[], byte[]>>> makers)
            throws Exception {
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        Thread[] producers = new Thread[PRODUCERS];
        for (int i = 0; i < PRODUCERS; i++) {
            long first = from + i;
            producers[i] = Thread.ofPlatform().start(() -> produce(bootstrapServers, first, to, makers.get(), failure));
        }
        for (Thread producer : producers) {
            producer.join();
        }
        Exception thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException("not all records could be published", thrown);
        }
    }

    private static void produce(
            String bootstrapServers,
            long first,
            long to,
            LongFunction<ProducerRecord<byte[], byte[]>> records,
            AtomicReference<@Nullable Exception> failure) {
        // A row that is sent twice stays one row, so nothing needs to be kept in order.
        Map<String, Object> config = Map.of(
                "bootstrap.servers",
                bootstrapServers,
                "linger.ms",
                20,
                "batch.size",
                1 << 17,
                "enable.idempotence",
                false);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (long number = first; number < to && failure.get() == null; number += PRODUCERS) {
                producer.send(records.apply(number), (sent, e) -> failure.compareAndSet(null, e));
            }
        } catch (RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Of the values in the topic. */
    static Schema schema() {
        return WRITER.schema();
    }

    /** Finalizer of SplitMix64: one to one, so no two handles are alike. */
    static long mixed(long number) {
        long bits = number * 0x9E3779B97F4A7C15L;
        bits = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
        return bits ^ bits >>> 31;
    }

    /** Knows the row's schema without a server. */
    static final class OneSchema implements SchemaRegistry {
        @Override
        public Schema byId(int id) {
            return WRITER.schema();
        }

        @Override
        public int register(String subject, Schema schema) {
            throw new IllegalStateException("nothing is registered");
        }

        @Override
        public int idOf(String subject, Schema schema) {
            throw new IllegalStateException("nothing is registered");
        }

        @Override
        public void close() {}
    }
}
