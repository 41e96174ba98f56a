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
 * Requests commits of a stream thread before its commit interval ends. A stage reads the output of the previous stage
 * only after a commit, so an event that passes through three stages waits for three commits.
 *
 * <p>A commit is requested after the last record of a poll, because an earlier one would delay the poll's other
 * records. The longer a commit takes, the more records the next poll returns and the next commit covers.
 *
 * <p>Two bounds delay a request:
 *
 * <ul>
 *   <li>A commit costs about as much as processing some dozens of records, however many it covers. So the minimum
 *       gap between commits grows with the recent rate of records: none for a single client, some milliseconds at
 *       hundreds of records per second, and more than the commit interval under high load.
 *   <li>Commits take at most half of the thread's time, so that records are processed even if commits are slow. This
 *       bound does not apply once 25 ms have passed since the last commit.
 * </ul>
 *
 * <p>While a request is delayed, polls are short. The first empty poll after both bounds allow it makes the request.
 *
 * <p>Kafka Streams commits all tasks of the thread before it polls again. Each stream thread has one instance; not
 * thread-safe. All times are in nanoseconds of {@link System#nanoTime}.
 */
final class CommitPacing {
    /** The rate is measured over the current and the previous window. */
    private static final long WINDOW_NANOS = Duration.ofMillis(50).toNanos();

    /** Up to this many records in both windows there is no gap; a single client produces fewer. */
    private static final long FREE_RECORDS = 32;

    /** Added to the gap by each further record in both windows. */
    private static final long GAP_NANOS_PER_RECORD = 100_000;

    /** The most commit time that a thread can save up, and the most that a slow commit can overdraw. */
    private static final long MAX_CREDIT_NANOS = Duration.ofMillis(50).toNanos();

    /** After this time without a commit, credit no longer delays one. The rate of records still does. */
    private static final long MAX_CREDIT_DELAY_NANOS = Duration.ofMillis(25).toNanos();

    /** How long a poll may take while a request is delayed. */
    private static final Duration SHORT_POLL = Duration.ofMillis(5);

    private static final ThreadLocal<CommitPacing> OF_THREAD =
            ThreadLocal.withInitial(() -> new CommitPacing(System.nanoTime()));

    private long unprocessed;
    private @Nullable Runnable delayedRequest;
    private long creditNanos = MAX_CREDIT_NANOS;
    private long accruedAt;
    private long windowStart;
    private long inWindow;
    private long inPreviousWindow;
    private long committedAt;

    CommitPacing(long now) {
        windowStart = now;
        accruedAt = now;
        committedAt = now;
    }

    /** Returns the instance of the calling stream thread. */
    static CommitPacing ofThread() {
        return OF_THREAD.get();
    }

    /** Wraps processors so that they request commits when this class decides. */
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

    /** Returns the time-out of a poll for which Kafka Streams passes the given one. */
    Duration pollTimeout(Duration timeout) {
        return delayedRequest != null && timeout.compareTo(SHORT_POLL) > 0 ? SHORT_POLL : timeout;
    }

    /**
     * Called after a poll. Kafka Streams has then processed the records of the previous poll, except those that it
     * buffers during a rebalance; a commit may follow each of these.
     */
    void onPoll(int records, long now) {
        unprocessed = records;
        Runnable commit = delayedRequest;
        if (records == 0 && commit != null) {
            requestOrDelay(commit, now);
        }
    }

    /**
     * Called after a record is processed.
     *
     * @param commit requests a commit
     */
    void onProcessed(Runnable commit, long now) {
        rollWindow(now);
        inWindow++;
        unprocessed--;
        if (unprocessed <= 0) {
            requestOrDelay(commit, now);
        }
    }

    /** Called after every commit, also one that was not requested here or that failed. */
    void onCommit(long startedAt, long now) {
        accrueCredit(now);
        creditNanos = Math.max(-MAX_CREDIT_NANOS, creditNanos - (now - startedAt));
        committedAt = now;
        delayedRequest = null;
    }

    private void requestOrDelay(Runnable commit, long now) {
        rollWindow(now);
        accrueCredit(now);
        long gap = Math.max(0, inWindow + inPreviousWindow - FREE_RECORDS) * GAP_NANOS_PER_RECORD;
        long sinceCommit = now - committedAt;
        if (sinceCommit >= gap && (creditNanos > 0 || sinceCommit >= MAX_CREDIT_DELAY_NANOS)) {
            delayedRequest = null;
            commit.run();
        } else {
            delayedRequest = commit;
        }
    }

    private void rollWindow(long now) {
        long elapsed = now - windowStart;
        if (elapsed >= WINDOW_NANOS) {
            inPreviousWindow = elapsed < 2 * WINDOW_NANOS ? inWindow : 0;
            inWindow = 0;
            windowStart = now;
        }
    }

    private void accrueCredit(long now) {
        creditNanos = Math.min(MAX_CREDIT_NANOS, creditNanos + (now - accruedAt) / 2);
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
            ofThread().onProcessed(Initialized.require(commit), System.nanoTime());
        }

        @Override
        public void close() {
            stage.close();
        }
    }
}
