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
 * <p>Two bounds hold a request back. While one does, polls are short, so that the thread looks at its commit
 * interval in time.
 *
 * <ul>
 *   <li>A commit costs about as much as processing some dozens of records, however many it covers. So the gap
 *       between commits grows with the records of the last moments: none for a lone client, some milliseconds
 *       at hundreds of records a second, and longer than the commit interval in a flood.
 *   <li>Commits take at most half of the thread's time. On a busy machine, where they are slow, the rest of the
 *       time goes to the records.
 * </ul>
 *
 * <p>Kafka Streams acts on a request before it polls again, and commits all tasks of the thread. One of
 * these for each stream thread; not thread-safe.
 */
final class CommitPacing {
    /** The rate is measured over the current window and the one before. */
    private static final long WINDOW_NANOS = Duration.ofMillis(50).toNanos();

    /** Records in both windows that add no gap: a lone client's events make as many. */
    private static final long FREE_RECORDS = 32;

    /** Gap for each further record in both windows. */
    private static final long GAP_NANOS = 100_000;

    /** Time that may be spent on commits at once, after a while without any. */
    private static final long MOST_CREDIT_NANOS = Duration.ofMillis(50).toNanos();

    /** Of a poll while processed records wait for their commit. */
    private static final Duration SHORT_POLL = Duration.ofMillis(5);

    private static final ThreadLocal<CommitPacing> OF_THREAD =
            ThreadLocal.withInitial(() -> new CommitPacing(System.nanoTime()));

    private long unprocessed;
    private boolean heldBack;
    private long credit = MOST_CREDIT_NANOS;
    private long creditedUntil;
    private long windowBegan;
    private long inWindow;
    private long inWindowBefore;
    private long committedAt;

    /**
     * @param now in nanoseconds of {@link System#nanoTime}, as all times here
     */
    CommitPacing(long now) {
        windowBegan = now;
        creditedUntil = now;
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
        return heldBack && timeout.compareTo(SHORT_POLL) > 0 ? SHORT_POLL : timeout;
    }

    /** Takes note of the records of a poll. All of the poll before were processed. */
    void polled(int records) {
        unprocessed = records;
    }

    /** Takes note of a commit, requested or not. */
    void committed(long began, long now) {
        credit(now);
        credit -= now - began;
        committedAt = now;
        heldBack = false;
    }

    /** Counts a record that was processed, and returns whether to request a commit. */
    boolean isCommitDue(long now) {
        count(now);
        unprocessed--;
        if (unprocessed > 0) {
            return false;
        }
        credit(now);
        long gap = Math.max(0, inWindow + inWindowBefore - FREE_RECORDS) * GAP_NANOS;
        heldBack = credit <= 0 || now - committedAt < gap;
        return !heldBack;
    }

    private void count(long now) {
        long elapsed = now - windowBegan;
        if (elapsed >= WINDOW_NANOS) {
            inWindowBefore = elapsed < 2 * WINDOW_NANOS ? inWindow : 0;
            inWindow = 0;
            windowBegan = now;
        }
        inWindow++;
    }

    private void credit(long now) {
        credit = Math.min(MOST_CREDIT_NANOS, credit + (now - creditedUntil) / 2);
        creditedUntil = now;
    }

    private static final class Paced<KI, VI, KO, VO> implements Processor<KI, VI, KO, VO> {
        private final Processor<KI, VI, KO, VO> stage;
        private @Nullable ProcessorContext<KO, VO> context;

        Paced(Processor<KI, VI, KO, VO> stage) {
            this.stage = stage;
        }

        @Override
        public void init(ProcessorContext<KO, VO> context) {
            this.context = context;
            stage.init(context);
        }

        @Override
        public void process(Record<KI, VI> record) {
            stage.process(record);
            if (ofThread().isCommitDue(System.nanoTime())) {
                Started.with(context).commit();
            }
        }

        @Override
        public void close() {
            stage.close();
        }
    }
}
