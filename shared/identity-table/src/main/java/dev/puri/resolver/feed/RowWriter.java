package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.Stop;
import dev.puri.projection.StoppedException;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
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
 * Writes batches of rows to a table in its own thread, which is the only thread that writes the table. Kafka Streams'
 * global thread, the packer, reads the topic and fills the batches. During a restore both threads have about as much
 * work.
 *
 * <pre>
 * packer: parse and pack records ───full batches───▶ writer: store records, publish them to readers
 *       ▲                                                        │
 *       └──────────────────── empty batches ◀────────────────────┘
 * </pre>
 *
 * The number of batches for records is fixed, so the packer waits for the writer when all of them are queued.
 */
final class RowWriter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RowWriter.class);
    private static final long CHECK_MILLIS = 100;
    private static final long CLOSE_MILLIS = 2_000;

    /** Together the batches are about 10 ms of work and 4 MB, which is enough to bridge pauses of either thread. */
    static final int BATCHES = 40;

    private final PackedTable table;
    private final DigestCheck digests;
    private final OutcomeCache outcomes;
    private final Waiters waiters;
    private final BlockingQueue<Batch> fullBatches = new LinkedBlockingQueue<>();

    /** A stack, so that the packer fills the batch that is still in the CPU cache. */
    private final BlockingDeque<Batch> emptyBatches = new LinkedBlockingDeque<>();

    private final Stop stop = new Stop();
    private final Thread thread =
            Thread.ofPlatform().name("table-writer").daemon(true).unstarted(this::run);

    /** The batch that the packer fills; used only by the packer. */
    private Batch currentBatch;

    /** The receiver of changes; null until the table is live. Used only by the writer. */
    private @Nullable RowChanges receiver;

    /**
     * By partition: the offset after the last record that is in the table. {@link #reportChanges} needs it, because the
     * table's own offsets advance only after a poll. It is not updated afterwards. Used only by the writer.
     */
    private long[] writtenOffsets = {};

    private volatile @Nullable Throwable failure;

    /**
     * Whether batches keep the bytes of topic records, for the receiver of changes. False while the table is being
     * filled, because references from old arrays to young objects are expensive for the garbage collector.
     */
    private volatile boolean keepsRecordBytes;

    /** A digest in the topic, and the place of its record. */
    private record PublishedDigest(int partition, long offset, PartitionDigest digest) {}

    /** Rows and removals in the order of the topic, and the offset after them. Used by one thread at a time. */
    final class Batch {
        final RowBatch rows;

        // Six values of the topic record of each row or removal. The key, value and token are null if they are not
        // kept.
        private final byte[] @Nullable [] keys = new byte[RowBatch.MAX_ROWS][];
        private final byte[] @Nullable [] values = new byte[RowBatch.MAX_ROWS][];
        private final byte[] @Nullable [] tokens = new byte[RowBatch.MAX_ROWS][];
        private final int[] partitions = new int[RowBatch.MAX_ROWS];
        private final long[] offsets = new long[RowBatch.MAX_ROWS];
        private final boolean[] isChange = new boolean[RowBatch.MAX_ROWS];

        /** The partition whose processed offset this batch advances; -1 if none. */
        private int partition = -1;

        private long offset;

        /**
         * Compared with the digest of the table after this batch and all earlier batches are written; null for none.
         */
        private @Nullable PublishedDigest published;

        /** Runs after this batch and all earlier batches are written; null for none. */
        private @Nullable Runnable onWritten;

        Batch(RowBatch rows) {
            this.rows = rows;
        }

        /**
         * Adds the topic record of the row or removal that was added last to {@link #rows}.
         *
         * @param token the position of the event that caused the record; null if its headers have none
         * @param isChange whether the record changes the row
         */
        void addRecord(
                byte[] key,
                byte @Nullable [] value,
                byte @Nullable [] token,
                @Nullable RecordMetadata metadata,
                boolean isChange) {
            int i = rows.count() - 1;
            if (keepsRecordBytes) {
                keys[i] = key;
                values[i] = value;
                tokens[i] = token;
            }
            partitions[i] = metadata == null ? 0 : metadata.partition();
            offsets[i] = metadata == null ? 0 : metadata.offset();
            this.isChange[i] = isChange;
        }

        private void reportChange(int i, RowChanges receiver) {
            byte[] key = keys[i];
            if (key != null) {
                receiver.changed(partitions[i], offsets[i], key, values[i], tokens[i]);
            } else {
                // The record was added before reportChanges, when bytes were not kept, but is written afterwards.
                receiver.changed(partitions[i], offsets[i], rows.puri(i), rows.row(i));
            }
        }

        private void reportOutcomes(OutcomeCache outcomes) {
            for (int i = 0; i < rows.count(); i++) {
                byte[] token = tokens[i];
                // Skips events of the shared topic: the position of the row shows their outcome, see
                // OutcomeCache#addDecided.
                if (token != null && isOfOwnTopic(token)) {
                    Row row = rows.row(i);
                    // A row has the position of the token. For a removal the token must be parsed.
                    outcomes.addDecided(
                            rows.puri(i),
                            row == null
                                    ? Position.parse(new String(token, StandardCharsets.US_ASCII))
                                    : row.position());
                }
            }
        }

        /**
         * Whether the token is of a namespace's own topic. Such a token begins with the namespace; a token of the
         * shared events topic is {@code partition-offset}.
         */
        private static boolean isOfOwnTopic(byte[] token) {
            int dashes = 0;
            for (byte character : token) {
                dashes += character == '-' ? 1 : 0;
            }
            return dashes > 1;
        }

        private void clear() {
            Arrays.fill(keys, 0, rows.count(), null);
            Arrays.fill(values, 0, rows.count(), null);
            Arrays.fill(tokens, 0, rows.count(), null);
            rows.clear();
            partition = -1;
            published = null;
        }
    }

    /**
     * @param digests receives the comparisons of the table's digests with those in the topic
     * @param outcomes receives the decided events of namespaces' own topics after their rows are in the table
     * @param waiters woken when rows change
     */
    RowWriter(PackedTable table, DigestCheck digests, OutcomeCache outcomes, Waiters waiters) {
        this.table = table;
        this.digests = digests;
        this.outcomes = outcomes;
        this.waiters = waiters;
        for (int i = 1; i < BATCHES; i++) {
            emptyBatches.add(new Batch(table.newBatch()));
        }
        currentBatch = new Batch(table.newBatch());
    }

    void start() {
        thread.start();
    }

    /** Returns why the writer ended; null while it runs. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /**
     * Returns the batch to which the packer adds the next record. Called by the packer.
     *
     * @throws IllegalStateException if writing failed
     */
    Batch batch() {
        if (currentBatch.rows.isFull()) {
            handOver();
        }
        return currentBatch;
    }

    /**
     * Hands over the added records and the offset after them to the writer. Called by the packer.
     *
     * @throws IllegalStateException if writing failed
     */
    void handOverUpTo(int partition, long offset) {
        currentBatch.partition = partition;
        currentBatch.offset = offset;
        handOver();
    }

    /**
     * Hands over the added records to the writer, which then compares the digest of the table with a published one.
     * Called by the packer after it has added all records before the digest's offset, and none after it.
     *
     * @throws IllegalStateException if writing failed
     */
    void handOverAndCompare(int partition, long offset, PartitionDigest published) {
        currentBatch.published = new PublishedDigest(partition, offset, published);
        handOver();
    }

    /** Hands over the added records to the writer. Called by the packer. */
    void handOver() {
        requireAlive();
        fullBatches.add(currentBatch);
        currentBatch = takeEmpty();
    }

    /**
     * Waits until the table has all records that were handed over. Reports all later changes to a receiver.
     *
     * @param partitionCount the number of partitions
     * @param createReceiver creates the receiver from the next offset of each partition. The writer calls it
     * @throws IllegalStateException if writing failed
     */
    void reportChanges(int partitionCount, Function<long[], ? extends RowChanges> createReceiver) {
        keepsRecordBytes = true;
        CountDownLatch live = new CountDownLatch(1);
        Batch batch = new Batch(table.newBatch());
        batch.onWritten = () -> {
            // The table is filled. Zero ends the prediction of its final size.
            table.setOffsetsToRead(0);
            long[] begins = new long[partitionCount];
            for (int i = 0; i < partitionCount; i++) {
                begins[i] = Math.max(table.nextOffset(i), i < writtenOffsets.length ? writtenOffsets[i] : 0);
            }
            receiver = createReceiver.apply(begins);
            live.countDown();
        };
        await(batch, live);
    }

    /** Waits until the table has all records that were handed over. */
    void await() {
        CountDownLatch written = new CountDownLatch(1);
        Batch batch = new Batch(table.newBatch());
        batch.onWritten = written::countDown;
        await(batch, written);
    }

    private void await(Batch batch, CountDownLatch written) {
        fullBatches.add(batch);
        try {
            while (!written.await(CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
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
                Batch batch = emptyBatches.poll(CHECK_MILLIS, TimeUnit.MILLISECONDS);
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
            throw new IllegalStateException("writing the table failed: " + cause, cause);
        }
        if (stop.isRequested()) {
            throw stopped();
        }
    }

    private void run() {
        try {
            while (!stop.isRequested()) {
                Batch batch = fullBatches.poll(CHECK_MILLIS, TimeUnit.MILLISECONDS);
                if (batch != null) {
                    write(batch);
                }
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            // Set the failure first, because there may be no memory for the log line. TableKeeper then replaces the
            // table.
            failure = e;
            log.error("The table cannot be written any more", e);
        }
    }

    private void write(Batch batch) {
        table.write(batch.rows);
        if (batch.partition >= 0) {
            table.setNextOffset(batch.partition, batch.offset);
        }
        PublishedDigest published = batch.published;
        if (published != null) {
            digests.compare(published.partition, published.offset, published.digest, table.digest(published.partition));
        }
        RowChanges current = receiver;
        if (current == null) {
            noteWrittenOffsets(batch);
        } else {
            reportChanges(batch, current);
            batch.reportOutcomes(outcomes);
        }
        // Without the fence a new waiter might not see the row, and this thread might not see the waiter.
        VarHandle.fullFence();
        if (waiters.hasWaiters()) {
            wakeWaiters(batch);
        }
        if (batch.onWritten != null) {
            // This batch has no records. It only marks a position in the queue and is not reused.
            batch.onWritten.run();
            return;
        }
        batch.clear();
        emptyBatches.addFirst(batch);
    }

    private void noteWrittenOffsets(Batch batch) {
        for (int i = 0; i < batch.rows.count(); i++) {
            int partition = batch.partitions[i];
            if (partition >= writtenOffsets.length) {
                writtenOffsets = Arrays.copyOf(writtenOffsets, partition + 1);
            }
            writtenOffsets[partition] = batch.offsets[i] + 1;
        }
    }

    private static void reportChanges(Batch batch, RowChanges receiver) {
        for (int i = 0; i < batch.rows.count(); i++) {
            if (batch.isChange[i]) {
                batch.reportChange(i, receiver);
            }
        }
        if (batch.partition >= 0) {
            receiver.reached(batch.partition, batch.offset);
        }
    }

    private void wakeWaiters(Batch batch) {
        for (int i = 0; i < batch.rows.count(); i++) {
            waiters.wake(batch.rows.puri(i));
        }
        waiters.wakeWaitersForAnyName();
    }

    private static StoppedException stopped() {
        return new StoppedException("stopped while filling the table");
    }

    /** Stops the writer soon, and makes waits for it fail. Any thread may call it. */
    void stop() {
        stop.request();
    }

    /** Stops the writer and waits for its thread. The table keeps its rows and offsets. */
    @Override
    public void close() {
        stop();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
