package dev.puri.registry;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.StoreBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Requests commits of a stream thread before the commit interval ends. A stage reads the output of the previous stage
 * only after a commit, so an event that passes through three stages waits for three commits.
 *
 * <p>A commit is requested after the last record of a poll, because an earlier commit would delay the other records of
 * the poll. Kafka Streams then commits all tasks of the thread before it polls again. The longer a commit takes, the
 * more records the next poll returns and the next commit covers.
 *
 * <p>A request is delayed in two cases:
 *
 * <ul>
 *   <li>The last commit is more recent than the minimum gap between commits. The gap grows with the rate of records,
 *       because a commit costs about as much as processing some dozens of records, however many records it covers.
 *       There is no gap for a single client; the gap is some milliseconds at hundreds of records per second, and longer
 *       than the commit interval under high load.
 *   <li>Commits have taken more than half of the thread's time, and the last commit is less than 25 ms ago. This leaves
 *       time to process records even if commits are slow.
 * </ul>
 *
 * <p>While a request is delayed, polls are short. The request is made when neither case applies any more: at an empty
 * poll, or after the last record of a later poll.
 *
 * <p>Each stream thread has one instance. Not thread-safe. All times are nanoseconds of {@link System#nanoTime}.
 */
final class CommitPacing {
    /** The rate of records is measured over the current and the previous window of this length. */
    private static final long WINDOW_NANOS = Duration.ofMillis(50).toNanos();

    /** Up to this many records in both windows there is no gap. A single client produces fewer. */
    private static final long RECORDS_WITHOUT_GAP = 32;

    /** Each further record in both windows adds this time to the gap. */
    private static final long GAP_NANOS_PER_RECORD = 100_000;

    /**
     * Maximum credit of a thread, and maximum debt after a slow commit. A thread earns half of the elapsed time as
     * credit and spends the time that its commits take.
     */
    private static final long MAX_CREDIT_NANOS = Duration.ofMillis(50).toNanos();

    /** After this time without a commit, missing credit no longer delays a commit. The gap still may. */
    private static final long MAX_DELAY_WITHOUT_CREDIT_NANOS =
            Duration.ofMillis(25).toNanos();

    /** Maximum time that a poll takes while a request is delayed. */
    private static final Duration SHORT_POLL = Duration.ofMillis(5);

    private static final ThreadLocal<CommitPacing> THREAD_INSTANCE =
            ThreadLocal.withInitial(() -> new CommitPacing(System.nanoTime()));

    private long unprocessedRecords;
    private @Nullable Runnable delayedRequest;
    private long creditNanos = MAX_CREDIT_NANOS;
    private long creditAccruedAtNanos;
    private long windowStartNanos;
    private long recordsInWindow;
    private long recordsInPreviousWindow;
    private long committedAtNanos;

    CommitPacing(long nowNanos) {
        windowStartNanos = nowNanos;
        creditAccruedAtNanos = nowNanos;
        committedAtNanos = nowNanos;
    }

    /** Returns the instance of the calling stream thread. */
    static CommitPacing ofThread() {
        return THREAD_INSTANCE.get();
    }

    /**
     * Returns a supplier of processors, which report each processed record to the instance of their thread.
     *
     * @param stores the stores of the processors
     */
    static <KI, VI, KO, VO> ProcessorSupplier<KI, VI, KO, VO> paced(
            Supplier<Processor<KI, VI, KO, VO>> processors, StoreBuilder<?>... stores) {
        return new ProcessorSupplier<>() {
            @Override
            public Processor<KI, VI, KO, VO> get() {
                return new PacedProcessor<>(processors.get());
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(stores);
            }
        };
    }

    /** Returns the time-out to use for a poll; shorter than Kafka Streams' time-out while a request is delayed. */
    Duration pollTimeout(Duration timeout) {
        return delayedRequest != null && timeout.compareTo(SHORT_POLL) > 0 ? SHORT_POLL : timeout;
    }

    /**
     * Called after a poll. By then Kafka Streams has processed the records of the previous poll, except those that it
     * buffers during a rebalance. A commit may be requested after each buffered record.
     */
    void onPoll(int recordCount, long nowNanos) {
        unprocessedRecords = recordCount;
        Runnable requestCommit = delayedRequest;
        if (recordCount == 0 && requestCommit != null) {
            requestOrDelay(requestCommit, nowNanos);
        }
    }

    /**
     * Called after a record is processed.
     *
     * @param requestCommit called to request a commit
     */
    void onProcessed(Runnable requestCommit, long nowNanos) {
        rollWindow(nowNanos);
        recordsInWindow++;
        unprocessedRecords--;
        if (unprocessedRecords <= 0) {
            requestOrDelay(requestCommit, nowNanos);
        }
    }

    /** Called after each commit, even if it failed or was not requested by this class. */
    void onCommit(long startedAtNanos, long nowNanos) {
        accrueCredit(nowNanos);
        creditNanos = Math.max(-MAX_CREDIT_NANOS, creditNanos - (nowNanos - startedAtNanos));
        committedAtNanos = nowNanos;
        delayedRequest = null;
    }

    private void requestOrDelay(Runnable requestCommit, long nowNanos) {
        rollWindow(nowNanos);
        accrueCredit(nowNanos);
        long gapNanos =
                Math.max(0, recordsInWindow + recordsInPreviousWindow - RECORDS_WITHOUT_GAP) * GAP_NANOS_PER_RECORD;
        long nanosSinceCommit = nowNanos - committedAtNanos;
        if (nanosSinceCommit >= gapNanos && (creditNanos > 0 || nanosSinceCommit >= MAX_DELAY_WITHOUT_CREDIT_NANOS)) {
            delayedRequest = null;
            requestCommit.run();
        } else {
            delayedRequest = requestCommit;
        }
    }

    private void rollWindow(long nowNanos) {
        long elapsedNanos = nowNanos - windowStartNanos;
        if (elapsedNanos >= WINDOW_NANOS) {
            recordsInPreviousWindow = elapsedNanos < 2 * WINDOW_NANOS ? recordsInWindow : 0;
            recordsInWindow = 0;
            windowStartNanos = nowNanos;
        }
    }

    private void accrueCredit(long nowNanos) {
        creditNanos = Math.min(MAX_CREDIT_NANOS, creditNanos + (nowNanos - creditAccruedAtNanos) / 2);
        creditAccruedAtNanos = nowNanos;
    }

    private static final class PacedProcessor<KI, VI, KO, VO> implements Processor<KI, VI, KO, VO> {
        private final Processor<KI, VI, KO, VO> processor;
        private @Nullable Runnable requestCommit;

        PacedProcessor(Processor<KI, VI, KO, VO> processor) {
            this.processor = processor;
        }

        @Override
        public void init(ProcessorContext<KO, VO> context) {
            requestCommit = context::commit;
            processor.init(context);
        }

        @Override
        public void process(Record<KI, VI> record) {
            processor.process(record);
            ofThread().onProcessed(Objects.requireNonNull(requestCommit), System.nanoTime());
        }

        @Override
        public void close() {
            processor.close();
        }
    }
}
