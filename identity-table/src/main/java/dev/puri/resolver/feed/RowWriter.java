package dev.puri.resolver.feed;

import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.tail.Stop;
import dev.puri.tail.StoppedException;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.Waiters;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only thread that writes a table. Another thread reads the topic; during a restore both have about as much to do.
 *
 * <pre>
 * global thread: parse, pack ────────Batch──▶ queue ──▶ this thread: store, publish to readers
 *       ▲                                                        │
 *       └──────────────────── empty batches ◀────────────────────┘
 * </pre>
 *
 * The number of batches is fixed, so the thread that reads waits for this one when it is ahead.
 */
final class RowWriter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RowWriter.class);
    private static final long LOOK_MILLIS = 100;
    private static final long STOP_MILLIS = 2_000;

    /** Enough to bridge pauses of either thread: some 10 ms of work, 4 MB. */
    static final int BATCHES = 40;

    private final PackedTable table;
    private final OutcomeCache outcomes;
    private final Waiters waiters;
    private final BlockingQueue<Batch> full = new LinkedBlockingQueue<>();
    /** A stack: the batch that was emptied last is filled next, while the processor's cache still has it. */
    private final BlockingDeque<Batch> empty = new LinkedBlockingDeque<>();

    private final Stop stop = new Stop();
    private final Thread thread =
            Thread.ofPlatform().name("table-writer").daemon(true).unstarted(this::run);

    /** Used by the thread that reads. */
    private Batch filling;

    /** Used by the thread that writes; null while the table is being filled. */
    private @Nullable RowChanges changes;

    /**
     * By partition, the offset after the last record that is in the table. Used by the thread that writes while the
     * table is being filled: the table's own offsets advance only with the next poll.
     */
    private long[] written = {};

    private volatile @Nullable Throwable failure;

    /**
     * Whether batches keep the bytes of records, for the receiver of changes. Not while the table is being filled: old
     * arrays that refer to young objects cost the garbage collector most.
     */
    private volatile boolean isKept;

    /** Rows in the order of the topic, and the offset that follows them. Used by one thread at a time. */
    final class Batch {
        final RowBatch rows;

        /**
         * By row or removal: the bytes of its record if they are kept, its partition and offset, and whether it is a
         * change.
         */
        private final byte[] @Nullable [] keys = new byte[RowBatch.MOST][];

        private final byte[] @Nullable [] values = new byte[RowBatch.MOST][];

        private final byte[] @Nullable [] tokens = new byte[RowBatch.MOST][];

        private final int[] partitions = new int[RowBatch.MOST];
        private final long[] offsets = new long[RowBatch.MOST];
        private final boolean[] isChange = new boolean[RowBatch.MOST];

        private int partition = -1;
        private long offset;

        /** An action that runs after all earlier batches are written; null for none. */
        private @Nullable Runnable then;

        Batch(RowBatch rows) {
            this.rows = rows;
        }

        /**
         * Adds the record of the row or removal that was added last.
         *
         * @param token of the event that the record answers; null when its headers have none
         */
        void addRecord(
                byte[] key,
                byte @Nullable [] value,
                byte @Nullable [] token,
                @Nullable RecordMetadata place,
                boolean isNews) {
            int i = rows.count() - 1;
            if (isKept) {
                keys[i] = key;
                values[i] = value;
                tokens[i] = token;
            }
            partitions[i] = place == null ? 0 : place.partition();
            offsets[i] = place == null ? 0 : place.offset();
            isChange[i] = isNews;
        }

        private void report(int i, RowChanges receiver) {
            byte[] key = keys[i];
            if (key != null) {
                receiver.changed(partitions[i], offsets[i], key, values[i], tokens[i]);
            } else {
                // Added before goLive, and written after it.
                receiver.changed(partitions[i], offsets[i], rows.name(i), rows.row(i));
            }
        }

        private void reportOutcomes(OutcomeCache outcomes) {
            for (int i = 0; i < rows.count(); i++) {
                byte[] token = tokens[i];
                if (token != null && isOfNamespace(token)) {
                    Row row = rows.row(i);
                    // A row has the token's position already; a removal does not.
                    outcomes.answered(
                            rows.name(i),
                            row == null
                                    ? Position.parse(new String(token, StandardCharsets.US_ASCII))
                                    : row.position());
                }
            }
        }

        /** Tokens of the shared topic are two numbers; those of a namespace's topic begin with the topic's name. */
        private static boolean isOfNamespace(byte[] token) {
            int dashes = 0;
            for (byte each : token) {
                dashes += each == '-' ? 1 : 0;
            }
            return dashes > 1;
        }

        private void clear() {
            Arrays.fill(keys, 0, rows.count(), null);
            Arrays.fill(values, 0, rows.count(), null);
            Arrays.fill(tokens, 0, rows.count(), null);
            rows.clear();
            partition = -1;
        }
    }

    /**
     * @param outcomes receives answered events, once their rows are in the table
     * @param waiters woken when rows change
     */
    RowWriter(PackedTable table, OutcomeCache outcomes, Waiters waiters) {
        this.table = table;
        this.outcomes = outcomes;
        this.waiters = waiters;
        for (int i = 1; i < BATCHES; i++) {
            empty.add(new Batch(table.newBatch()));
        }
        filling = new Batch(table.newBatch());
    }

    void start() {
        thread.start();
    }

    /** Why the table is not written any more; null while it is. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /**
     * The batch to which a record is added; for the thread that reads.
     *
     * @throws IllegalStateException when writing has failed
     */
    Batch batch() {
        if (filling.rows.isFull()) {
            handOver();
        }
        return filling;
    }

    /**
     * Hands over the records that were added, and the offset that follows them; for the thread that reads.
     *
     * @throws IllegalStateException when writing has failed
     */
    void reached(int partition, long offset) {
        filling.partition = partition;
        filling.offset = offset;
        handOver();
    }

    /** Hands over the records that were added; for the thread that reads. */
    void handOver() {
        requireAlive();
        full.add(filling);
        filling = takeEmpty();
    }

    /**
     * Returns when the table has all records that were handed over. Later changes are reported.
     *
     * @param begin creates the receiver, from the next offset of each partition; called by the thread that writes
     * @throws IllegalStateException when writing has failed
     */
    void goLive(int count, Function<long[], ? extends RowChanges> begin) {
        isKept = true;
        CountDownLatch live = new CountDownLatch(1);
        Batch batch = new Batch(table.newBatch());
        batch.then = () -> {
            table.expect(0);
            long[] begins = new long[count];
            for (int i = 0; i < count; i++) {
                begins[i] = Math.max(table.reached(i), i < written.length ? written[i] : 0);
            }
            changes = begin.apply(begins);
            live.countDown();
        };
        await(batch, live);
    }

    /** Returns when the table has all records that were handed over. */
    void await() {
        CountDownLatch written = new CountDownLatch(1);
        Batch batch = new Batch(table.newBatch());
        batch.then = written::countDown;
        await(batch, written);
    }

    private void await(Batch batch, CountDownLatch written) {
        full.add(batch);
        try {
            while (!written.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                requireAlive();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw stopped();
        }
    }

    private Batch takeEmpty() {
        try {
            while (true) {
                Batch batch = empty.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                if (batch != null) {
                    return batch;
                }
                requireAlive();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw stopped();
        }
    }

    private void requireAlive() {
        Throwable cause = failure;
        if (cause != null) {
            throw new IllegalStateException("the table could not be written: " + cause, cause);
        }
        if (stop.isAsked()) {
            throw stopped();
        }
    }

    private void run() {
        try {
            while (!stop.isAsked()) {
                Batch batch = full.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                if (batch != null) {
                    write(batch);
                }
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            // Before the log, for which there may be no memory. The keeper replaces the writer and its table.
            failure = e;
            log.error("The table cannot be written any more", e);
        }
    }

    private void write(Batch batch) {
        table.write(batch.rows);
        if (batch.partition >= 0) {
            table.reach(batch.partition, batch.offset);
        }
        RowChanges receiver = changes;
        if (receiver == null) {
            note(batch);
        } else {
            report(batch, receiver);
            batch.reportOutcomes(outcomes);
        }
        // Else a waiter might miss the change, and this thread the waiter.
        VarHandle.fullFence();
        if (waiters.isAnybodyThere()) {
            wake(batch);
        }
        if (batch.then != null) {
            batch.then.run();
            return;
        }
        batch.clear();
        empty.addFirst(batch);
    }

    private void note(Batch batch) {
        for (int i = 0; i < batch.rows.count(); i++) {
            int partition = batch.partitions[i];
            if (partition >= written.length) {
                written = Arrays.copyOf(written, partition + 1);
            }
            written[partition] = batch.offsets[i] + 1;
        }
    }

    private static void report(Batch batch, RowChanges receiver) {
        for (int i = 0; i < batch.rows.count(); i++) {
            if (batch.isChange[i]) {
                batch.report(i, receiver);
            }
        }
        if (batch.partition >= 0) {
            receiver.reached(batch.partition, batch.offset);
        }
    }

    private void wake(Batch batch) {
        for (int i = 0; i < batch.rows.count(); i++) {
            waiters.wake(batch.rows.name(i));
        }
        waiters.wakeNameless();
    }

    private static StoppedException stopped() {
        return new StoppedException("stopped while filling the table");
    }

    /** Stops the thread soon, and lets waits for it fail; from any thread. */
    void stop() {
        stop.ask();
    }

    /** Stops the thread. The table's offsets are those of the records that it has. */
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
