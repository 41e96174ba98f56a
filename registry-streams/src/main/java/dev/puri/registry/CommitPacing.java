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
 * <p>A commit is requested after a record, unless one of two bounds forbids it:
 *
 * <ul>
 *   <li>A commit costs about as much as processing some dozens of records, however many it covers. So the
 *       gap between commits is in proportion to the records of the last moments: none for a lone client, some
 *       milliseconds at hundreds of records a second, and longer than the commit interval in a flood.
 *   <li>Requested commits take at most half of the thread's time. On a busy machine, where commits are slow,
 *       the rest of the time goes to the records.
 * </ul>
 *
 * <p>Kafka Streams acts on a request after the records in hand and before it polls again, and commits all
 * tasks of the thread. One of these for each stream thread; not thread-safe.
 */
final class CommitPacing {
    /** The rate is measured over the current window and the one before. */
    private static final long WINDOW_NANOS = Duration.ofMillis(50).toNanos();

    /** Records in both windows that add no gap: a lone client's events make as many. */
    private static final long FREE_RECORDS = 16;

    /** Gap for each further record in both windows. */
    private static final long GAP_NANOS = 100_000;

    /** Time that may be spent on commits at once, after a while without any. */
    private static final long MOST_CREDIT_NANOS = Duration.ofMillis(50).toNanos();

    private static final ThreadLocal<CommitPacing> OF_THREAD =
            ThreadLocal.withInitial(() -> new CommitPacing(System.nanoTime()));

    private long windowBegan;
    private long inWindow;
    private long inWindowBefore;
    private long credit = MOST_CREDIT_NANOS;
    private long creditedUntil;
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

    /** Takes note of a commit, requested or not. */
    void committed(long began, long now) {
        credit(now);
        credit -= now - began;
        committedAt = now;
    }

    /** Counts a record that was processed, and returns whether a commit is to be requested. */
    boolean isCommitDue(long now) {
        credit(now);
        long elapsed = now - windowBegan;
        if (elapsed >= WINDOW_NANOS) {
            inWindowBefore = elapsed < 2 * WINDOW_NANOS ? inWindow : 0;
            inWindow = 0;
            windowBegan = now;
        }
        inWindow++;
        long counted = inWindow + inWindowBefore - FREE_RECORDS;
        return credit > 0 && now - committedAt >= Math.max(0, counted) * GAP_NANOS;
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
