package dev.puri.resolver;

import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.WireFormat;
import io.micrometer.core.instrument.Counter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes a table. Nothing that stands in the topic can stop it: what does not
 * decode is counted and leaves the row before it in place. A schema registry out of reach is waited
 * for, because the record after would otherwise be read without the one before.
 *
 * <pre>
 * global thread ──Batch──▶ queue ──▶ this thread ──▶ PackedTable
 *       ▲                                  │
 *       └──────────── empty batches ◀──────┘
 * </pre>
 *
 * There are few batches, so the thread that reads waits for this one when it is ahead.
 */
final class RowWriter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RowWriter.class);
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;
    private static final long STOP_MILLIS = 10_000;
    private static final int BATCHES = 8;

    private final PackedTable table;
    private final SchemaRegistry registry;
    private final Counter undecodable;
    private final RecordReader<IdentityRow> reader = RecordReader.of(IdentityRow.class);
    private final BlockingQueue<Batch> full = new LinkedBlockingQueue<>();
    private final BlockingQueue<Batch> empty = new LinkedBlockingQueue<>();

    /** Of the thread that reads. */
    private Batch filling = new Batch();

    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread thread =
            Thread.ofPlatform().name("table-writer").daemon(true).unstarted(this::run);

    /** The id of the schema that this program was built with, once it was seen. */
    private int ownId;

    private boolean ownIsKnown;

    private volatile @Nullable String waitingFor;
    private volatile @Nullable Throwable failure;

    /** Records in the order of the topic, and how far they go. Used by one thread at a time. */
    static final class Batch {
        /** As many as Kafka's consumer gives at a time. */
        private static final int SIZE = 500;

        private final byte[] @Nullable [] keys = new byte[SIZE][];
        private final byte[] @Nullable [] values = new byte[SIZE][];
        private final @Nullable RecordMetadata[] places = new RecordMetadata[SIZE];
        private int count;
        private int partition = -1;
        private long offset;
        private @Nullable CountDownLatch last;

        void add(byte @Nullable [] key, byte @Nullable [] value, @Nullable RecordMetadata place) {
            keys[count] = key;
            values[count] = value;
            places[count++] = place;
        }

        boolean isFull() {
            return count == SIZE;
        }

        void reach(int partition, long offset) {
            this.partition = partition;
            this.offset = offset;
        }

        private void clear() {
            Arrays.fill(keys, 0, count, null);
            Arrays.fill(values, 0, count, null);
            Arrays.fill(places, 0, count, null);
            count = 0;
            partition = -1;
        }
    }

    /** The writer was asked to stop while it was waited for. */
    private static final class Stopped extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Stopped() {
            super("stopped while filling the table");
        }
    }

    RowWriter(PackedTable table, SchemaRegistry registry, Counter undecodable) {
        this.table = table;
        this.registry = registry;
        this.undecodable = undecodable;
        for (int i = 1; i < BATCHES; i++) {
            empty.add(new Batch());
        }
    }

    void start() {
        thread.start();
    }

    /** What the writing waits for; null while it goes on. */
    @Nullable
    String waitingFor() {
        return waitingFor;
    }

    /**
     * Takes a record, to be written with those around it; by the thread that reads.
     *
     * @throws IllegalStateException when writing has failed
     */
    void add(byte @Nullable [] key, byte @Nullable [] value, @Nullable RecordMetadata place) {
        if (filling.isFull()) {
            handOver();
        }
        filling.add(key, value, place);
    }

    /**
     * Lets all be written that was added, and the table know how far it then is; by the thread that reads.
     *
     * @throws IllegalStateException when writing has failed
     */
    void reached(int partition, long offset) {
        filling.reach(partition, offset);
        handOver();
    }

    private void handOver() {
        full.add(filling);
        filling = take(empty);
    }

    /**
     * Returns when all is in the table that the thread that reads has handed over.
     *
     * @throws IllegalStateException when writing has failed
     */
    void await() {
        Batch batch = new Batch();
        CountDownLatch last = new CountDownLatch(1);
        batch.last = last;
        full.add(batch);
        try {
            while (!last.await(LONGEST_PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
                requireAlive();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Stopped();
        }
    }

    private Batch take(BlockingQueue<Batch> queue) {
        try {
            while (true) {
                Batch batch = queue.poll(FIRST_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                if (batch != null) {
                    return batch;
                }
                requireAlive();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Stopped();
        }
    }

    private void requireAlive() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the table could not be written: " + cause, cause);
        }
        if (isStopped()) {
            throw new Stopped();
        }
    }

    private void run() {
        try {
            while (!isStopped()) {
                Batch batch = full.poll(FIRST_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
                if (batch != null) {
                    write(batch);
                }
            }
        } catch (InterruptedException | Stopped e) {
            // Asked for.
        } catch (RuntimeException | Error e) {
            log.error("The table cannot be written any more", e);
            failure = e;
        }
    }

    private void write(Batch batch) {
        for (int i = 0; i < batch.count; i++) {
            write(batch.keys[i], batch.values[i], batch.places[i]);
        }
        if (batch.partition >= 0) {
            table.reach(batch.partition, batch.offset);
        }
        if (batch.last != null) {
            batch.last.countDown();
            return;
        }
        batch.clear();
        empty.add(batch);
    }

    private void write(byte @Nullable [] key, byte @Nullable [] value, @Nullable RecordMetadata place) {
        if (key != null && value != null && isOwn(value) && table.take(key, value)) {
            return;
        }
        try {
            Puri puri = name(key);
            if (value == null) {
                table.remove(puri);
            } else {
                table.put(puri, row(value, place));
            }
        } catch (SerializationException | AvroRuntimeException | IllegalArgumentException e) {
            undecodable.increment();
            log.warn("The record at {} is no identity and is kept out: {}", text(place), e.getMessage());
        }
    }

    private boolean isOwn(byte[] value) {
        return ownIsKnown && value.length > WireFormat.HEADER_LENGTH && WireFormat.isOf(ownId, value);
    }

    private static Puri name(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("it has no key");
        }
        String text = new String(key, StandardCharsets.UTF_8);
        Puri puri = Puri.parse(text);
        if (!puri.toString().equals(text)) {
            throw new IllegalArgumentException("its key is not in canonical form, which is " + puri);
        }
        return puri;
    }

    private Row row(byte[] value, @Nullable RecordMetadata place) {
        long pause = FIRST_PAUSE_MILLIS;
        while (true) {
            try {
                int id = WireFormat.schemaId(value);
                Schema writer = registry.byId(id);
                waitingFor = null;
                if (writer.equals(IdentityRow.getClassSchema())) {
                    ownId = id;
                    ownIsKnown = true;
                }
                return RowAvro.fromAvro(reader.decode(value, writer));
            } catch (RegistryUnavailableException e) {
                if (waitingFor == null) {
                    log.warn("The table waits at {} for the schema registry: {}", text(place), e.getMessage());
                }
                waitingFor = String.valueOf(e.getMessage());
                pause(pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
            }
        }
    }

    private void pause(long millis) {
        try {
            if (stopped.await(millis, TimeUnit.MILLISECONDS)) {
                throw new Stopped();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Stopped();
        }
    }

    private static String text(@Nullable RecordMetadata place) {
        return place == null ? "an unknown place" : place.topic() + "-" + place.partition() + "@" + place.offset();
    }

    private boolean isStopped() {
        return stopped.getCount() == 0;
    }

    /** Ends the writing soon, and fails whoever waits for it; from any thread. */
    void stop() {
        stopped.countDown();
    }

    /** Ends the writing. What was not written by then is not in the table, nor does it say that it reached it. */
    @Override
    public void close() {
        stop();
        try {
            thread.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
