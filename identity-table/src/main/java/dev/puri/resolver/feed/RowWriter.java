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
 * The one thread that writes a table, beside the one that reads its topic: each has about as much to do at a
 * restore.
 *
 * <pre>
 * global thread: parse, pack ────────Batch──▶ queue ──▶ this thread: store, turn the doors
 *       ▲                                                        │
 *       └──────────────────── empty batches ◀────────────────────┘
 * </pre>
 *
 * There are so many batches and no more, so the thread that reads waits for this one when it is ahead.
 */
final class RowWriter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RowWriter.class);
    private static final long LOOK_MILLIS = 100;
    private static final long STOP_MILLIS = 2_000;

    /** So many that neither thread waits for the other's pauses: some 10 ms of work, 4 MB. */
    static final int BATCHES = 40;

    private final PackedTable table;
    private final OutcomeCache outcomes;
    private final Waiters waiters;
    private final BlockingQueue<Batch> full = new LinkedBlockingQueue<>();
    /** The one that was emptied last is filled next, while the processors still have its memory. */
    private final BlockingDeque<Batch> empty = new LinkedBlockingDeque<>();

    private final Stop stop = new Stop();
    private final Thread thread =
            Thread.ofPlatform().name("table-writer").daemon(true).unstarted(this::run);

    /** Of the thread that reads. */
    private Batch filling;

    /** Of the thread that writes; null while the table is being filled. */
    private @Nullable RowChanges changes;

    /**
     * Of the thread that writes, while nobody is told of changes: by partition, the offset after the last record that is in the
     * table. A poll's records may be there before the table is told how far they reach.
     */
    private long[] written = {};

    private volatile @Nullable Throwable failure;

    /**
     * Whether what is added is kept as it stood in the topic, for those who are told of changes. Not while the table is
     * being filled: old arrays that refer to young objects are what the collector has most to do with.
     */
    private volatile boolean isKept;

    /** Rows in the order of the topic, and how far they go. Used by one thread at a time. */
    final class Batch {
        final RowBatch rows;

        /** Of each row or removal what stood in the topic, if that is kept; its place there, and whether it is news. */
        private final byte[] @Nullable [] keys = new byte[RowBatch.MOST][];

        private final byte[] @Nullable [] values = new byte[RowBatch.MOST][];

        private final byte[] @Nullable [] tokens = new byte[RowBatch.MOST][];

        private final int[] partitions = new int[RowBatch.MOST];
        private final long[] offsets = new long[RowBatch.MOST];
        private final boolean[] isChange = new boolean[RowBatch.MOST];

        private int partition = -1;
        private long offset;

        /** What is to be done when all before it is written; null for nothing. */
        private @Nullable Runnable then;

        Batch(RowBatch rows) {
            this.rows = rows;
        }

        /**
         * Says of what was just added where it stands in the topic.
         *
         * @param token of the event that the record answers; null when it does not tell
         */
        void heardOf(
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

        private void tell(int i, RowChanges told) {
            byte[] key = keys[i];
            if (key != null) {
                told.changed(partitions[i], offsets[i], key, values[i], tokens[i]);
            } else {
                // Added before it was said that changes will be told, and written after.
                told.changed(partitions[i], offsets[i], rows.name(i), rows.row(i));
            }
        }

        private void tellAnswers(OutcomeCache outcomes) {
            for (int i = 0; i < rows.count(); i++) {
                byte[] token = tokens[i];
                if (token != null && isOfNamespace(token)) {
                    Row row = rows.row(i);
                    // Of a row the batch has read the token already; of a removal it was made of a position.
                    outcomes.answered(
                            rows.name(i),
                            row == null
                                    ? Position.parse(new String(token, StandardCharsets.US_ASCII))
                                    : row.position());
                }
            }
        }

        /** Tokens of the shared topic are two numbers; those of a namespace's topic begin with its name. */
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
     * @param outcomes told of events that were answered, once their rows are in the table
     * @param waiters told of what was written
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

    /** Why nothing is written any more; null while all is well. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /**
     * The batch to add a record to; for the thread that reads.
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
     * Lets all be written that was added, and the table know how far it then is; for the thread that
     * reads.
     *
     * @throws IllegalStateException when writing has failed
     */
    void reached(int partition, long offset) {
        filling.partition = partition;
        filling.offset = offset;
        handOver();
    }

    /** Lets be written what was added; for the thread that reads. */
    void handOver() {
        requireAlive();
        full.add(filling);
        filling = takeEmpty();
    }

    /**
     * Returns when all is in the table that the thread that reads has handed over. From then on changes
     * are told.
     *
     * @param begin makes what they are told to, of the offset that each partition has reached; on the thread that writes
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

    /** Returns when all is in the table that the thread that reads has handed over. */
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
            // First, for there may be no memory to say it: the keeper replaces the writer and its table.
            failure = e;
            log.error("The table cannot be written any more", e);
        }
    }

    private void write(Batch batch) {
        table.write(batch.rows);
        if (batch.partition >= 0) {
            table.reach(batch.partition, batch.offset);
        }
        RowChanges told = changes;
        if (told == null) {
            note(batch);
        } else {
            tell(batch, told);
            batch.tellAnswers(outcomes);
        }
        // Or a waiter might miss what was written, and we the waiter.
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

    private static void tell(Batch batch, RowChanges told) {
        for (int i = 0; i < batch.rows.count(); i++) {
            if (batch.isChange[i]) {
                batch.tell(i, told);
            }
        }
        if (batch.partition >= 0) {
            told.reached(batch.partition, batch.offset);
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

    /** Ends the writing soon, and fails whoever waits for it; from any thread. */
    void stop() {
        stop.ask();
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
