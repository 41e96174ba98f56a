package dev.puri.registry;

import java.time.Duration;
import java.util.Set;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a stream thread commits before its commit interval ends. What a stage writes is visible to
 * the next one after the commit, so an event that passes three stages waits for three commits.
 *
 * <p>A commit is requested after the last record of a poll: a commit in between would hold up the others, and
 * the next poll with them. So the more comes while a commit takes its time, the more the next one covers.
 *
 * <p>Two bounds hold a request back:
 *
 * <ul>
 *   <li>A commit costs about as much as processing some dozens of records, however many it covers. So the gap
 *       between commits grows with the records of the last moments: none for a lone client, some milliseconds
 *       at hundreds of records a second, and longer than the commit interval in a flood.
 *   <li>Commits take at most half of the thread's time; on a busy machine, where they are slow, the rest goes to the
 *       records. After 25 ms without a commit this bound no longer holds, so slow commits may take more.
 * </ul>
 *
 * <p>While a request is held back polls are short. The first empty poll after the bounds allow it makes it.
 *
 * <p>Kafka Streams acts on a request before it polls again, and commits all tasks of the thread. One of
 * these for each stream thread; not thread-safe. All times are in nanoseconds of {@link System#nanoTime}.
 */
final class CommitPacing {
    /** The rate is measured over the current window and the one before. */
    private static final long WINDOW_NANOS = Duration.ofMillis(50).toNanos();

    /** So many records in both windows add no gap; a lone client makes no more. */
    private static final long FREE_RECORDS = 32;

    /** Gap for each further record in both windows. */
    private static final long GAP_NANOS = 100_000;

    /** The commit time that a thread can save up, and the debt that one slow commit can leave. */
    private static final long MOST_CREDIT_NANOS = Duration.ofMillis(50).toNanos();

    /** This long after a commit, slow commits hold back no further one. The rate of records still does. */
    private static final long PAUSE_NANOS = Duration.ofMillis(25).toNanos();

    /** How long a poll may take while a request is held back. */
    private static final Duration SHORT_POLL = Duration.ofMillis(5);

    private static final ThreadLocal<CommitPacing> OF_THREAD =
            ThreadLocal.withInitial(() -> new CommitPacing(System.nanoTime()));

    private long unprocessed;
    private @Nullable Runnable heldBack;
    private long creditNanos = MOST_CREDIT_NANOS;
    private long accruedAt;
    private long windowBegan;
    private long inWindow;
    private long inWindowBefore;
    private long committedAt;

    CommitPacing(long now) {
        windowBegan = now;
        accruedAt = now;
        committedAt = now;
    }

    /** Of the calling stream thread. */
    static CommitPacing ofThread() {
        return OF_THREAD.get();
    }

    /** The same processors, which request commits as this class decides. */
    static <KI, VI, KO, VO> ProcessorSupplier<KI, VI, KO, VO> paced(ProcessorSupplier<KI, VI, KO, VO> supplier) {
        return new ProcessorSupplier<>() {
            @Override
            public Processor<KI, VI, KO, VO> get() {
                return new Paced<>(supplier.get());
            }

            @Override
            public @Nullable Set<StoreBuilder<?>> stores() {
                return supplier.stores();
            }
        };
    }

    /** How long a poll may wait for records, of what Kafka Streams would let it wait. */
    Duration patience(Duration timeout) {
        return heldBack != null && timeout.compareTo(SHORT_POLL) > 0 ? SHORT_POLL : timeout;
    }

    /**
     * Takes note of a poll. Kafka Streams has processed what it polled before, but for records that it buffers
     * during a rebalance; those may be followed by a commit each.
     */
    void polled(int records, long now) {
        unprocessed = records;
        Runnable commit = heldBack;
        if (records == 0 && commit != null) {
            request(commit, now);
        }
    }

    /**
     * Takes note of a record that was processed.
     *
     * @param commit requests a commit
     */
    void processed(Runnable commit, long now) {
        roll(now);
        inWindow++;
        unprocessed--;
        if (unprocessed <= 0) {
            request(commit, now);
        }
    }

    /** Takes note of a commit, requested or not, also of one that failed. */
    void committed(long began, long now) {
        accrue(now);
        creditNanos = Math.max(-MOST_CREDIT_NANOS, creditNanos - (now - began));
        committedAt = now;
        heldBack = null;
    }

    private void request(Runnable commit, long now) {
        roll(now);
        accrue(now);
        long gap = Math.max(0, inWindow + inWindowBefore - FREE_RECORDS) * GAP_NANOS;
        long pause = now - committedAt;
        if (pause >= gap && (creditNanos > 0 || pause >= PAUSE_NANOS)) {
            heldBack = null;
            commit.run();
        } else {
            heldBack = commit;
        }
    }

    private void roll(long now) {
        long elapsed = now - windowBegan;
        if (elapsed >= WINDOW_NANOS) {
            inWindowBefore = elapsed < 2 * WINDOW_NANOS ? inWindow : 0;
            inWindow = 0;
            windowBegan = now;
        }
    }

    private void accrue(long now) {
        creditNanos = Math.min(MOST_CREDIT_NANOS, creditNanos + (now - accruedAt) / 2);
        accruedAt = now;
    }

    private static final class Paced<KI, VI, KO, VO> implements Processor<KI, VI, KO, VO> {
        private final Processor<KI, VI, KO, VO> stage;
        private @Nullable Runnable commit;

        Paced(Processor<KI, VI, KO, VO> stage) {
            this.stage = stage;
        }

        @Override
        public void init(ProcessorContext<KO, VO> context) {
            commit = context::commit;
            stage.init(context);
        }

        @Override
        public void process(Record<KI, VI> record) {
            stage.process(record);
            ofThread().processed(Started.with(commit), System.nanoTime());
        }

        @Override
        public void close() {
            stage.close();
        }
    }
}
