package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads that search, since the listener's must not block. No search waits for its turn longer than a bound:
 *
 * <pre>
 * submitted ─▶ would it wait too long? ─▶ queue ─▶ has it waited too long? ─▶ search
 *                        │ 503 at once                       │ 503
 * </pre>
 *
 * The first answers early, by the queue's length and how long searches take of late; the second holds when that
 * was too hopeful, because searches ahead turn out to be slow. Clients that are refused early can ask elsewhere
 * or later, and a cheap search is not held up by a queue of expensive ones.
 */
final class SearchPool implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SearchPool.class);

    static final ProblemType TOO_MANY_SEARCHES =
            new ProblemType("too-many-searches", "Too many searches wait for their turn", 503);

    /** The last search counts for an eighth of the mean, as in TCP's estimate of round trips (RFC 6298). */
    private static final int MEAN_WEIGHT = 8;

    /** How often those that have waited too long are looked for, while no thread comes to them. */
    private static final Duration SHED_PERIOD = Duration.ofMillis(100);

    private final ThreadPoolExecutor threads;
    private final BlockingQueue<Runnable> queue;
    private final Stop stop = new Stop();
    private final SupervisedThread shedding = new SupervisedThread(
            "search-shedding", stop, RetryPolicy.fixed(SHED_PERIOD), this::shedOverdue, this::sheddingFailed);
    private final int size;
    private final long maxWaitNanos;
    private final LongSupplier nanoClock;
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicLong meanNanos = new AtomicLong();
    private final Counter shed;

    /** The last failure of the shedding, so that one that repeats is logged once; of its thread alone. */
    private String lastFailure = "";

    /** Finds out what to answer, where it may take its time. */
    @FunctionalInterface
    interface Work {
        /** What answers, on the exchange's event loop. */
        Runnable run();
    }

    /** A search and whoever waits for it. */
    interface Task {
        /** Whether nobody waits any more. */
        boolean isOver();

        /** Does it; throws nothing. */
        void run();

        /**
         * It will not be done.
         *
         * @param wait how long its turn would have taken, as far as is known
         */
        void refuse(Duration wait);
    }

    /**
     * @param size searches at a time
     * @param capacity most that wait
     * @param maxWait how long one may wait for its turn
     * @param nanoClock like {@link System#nanoTime}
     */
    SearchPool(int size, int capacity, Duration maxWait, LongSupplier nanoClock, MeterRegistry meters) {
        this.size = size;
        this.maxWaitNanos = maxWait.toNanos();
        this.nanoClock = nanoClock;
        this.queue = new ArrayBlockingQueue<>(capacity);
        threads = new ThreadPoolExecutor(
                size,
                size,
                0,
                TimeUnit.SECONDS,
                queue,
                Thread.ofPlatform().name("search-", 0).daemon(true).factory());
        Gauge.builder("puri.search.queue", queue, BlockingQueue::size)
                .description("Searches that wait for their turn")
                .register(meters);
        shed = Counter.builder("puri.search.shed")
                .description("Searches refused because they waited, or would have waited, too long for their turn")
                .register(meters);
        shedding.start();
    }

    /** Does the work, and answers on the event loop; from any thread. */
    void run(Exchange exchange, Work work) {
        submit(new Answer(exchange, work));
    }

    /** Does the task soon, or refuses it. */
    void submit(Task task) {
        long wait = expectedWaitNanos();
        if (wait > maxWaitNanos) {
            refuse(task, wait);
            return;
        }
        try {
            threads.execute(new Turn(task, nanoClock.getAsLong()));
        } catch (RejectedExecutionException e) {
            refuse(task, wait);
        }
    }

    /** How long one that comes now would wait, as far as the last searches tell; none while a thread is idle. */
    private long expectedWaitNanos() {
        return running.get() < size ? 0 : (queue.size() + 1L) * meanNanos.get() / size;
    }

    /** Whether no search is under way. */
    boolean isIdle() {
        return running.get() == 0;
    }

    /** Refuses those that have waited too long while all threads are at work. */
    void shedOverdue() {
        long now = nanoClock.getAsLong();
        // The oldest is first.
        while (queue.peek() instanceof Turn turn && now - turn.submittedNanos > maxWaitNanos) {
            if (queue.remove(turn)) {
                refuse(turn.task, now - turn.submittedNanos);
            }
        }
    }

    private void sheddingFailed(Throwable cause) {
        if (!cause.toString().equals(lastFailure)) {
            lastFailure = cause.toString();
            log.error("A search that has waited too long was not refused", cause);
        }
    }

    private void refuse(Task task, long waitNanos) {
        shed.increment();
        task.refuse(Duration.ofNanos(waitNanos));
    }

    /** A task that waits for a thread. */
    private final class Turn implements Runnable {
        private final Task task;
        private final long submittedNanos;

        Turn(Task task, long submittedNanos) {
            this.task = task;
            this.submittedNanos = submittedNanos;
        }

        @Override
        public void run() {
            if (task.isOver()) {
                return;
            }
            long begun = nanoClock.getAsLong();
            if (begun - submittedNanos > maxWaitNanos) {
                refuse(task, begun - submittedNanos);
                return;
            }
            running.incrementAndGet();
            try {
                task.run();
            } finally {
                long took = nanoClock.getAsLong() - begun;
                meanNanos.accumulateAndGet(took, (mean, last) -> mean + (last - mean) / MEAN_WEIGHT);
                running.decrementAndGet();
            }
        }
    }

    private record Answer(Exchange exchange, Work work) implements Task {
        @Override
        public boolean isOver() {
            return exchange.isOver();
        }

        @Override
        public void run() {
            Runnable answer;
            try {
                answer = work.run();
            } catch (RuntimeException | Error e) {
                // Nobody else would answer; an Error, too, is the search's and not the thread's.
                answer = () -> {
                    throw e instanceof RuntimeException bug ? bug : new IllegalStateException(e);
                };
            }
            exchange.later(answer);
        }

        @Override
        public void refuse(Duration wait) {
            long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
            exchange.later(() -> exchange.header("Retry-After", Long.toString(seconds))
                    .problem(
                            Problem.of(TOO_MANY_SEARCHES, "More searches wait for their turn than can be done soon.")));
        }
    }

    @Override
    public void close() {
        stop.ask();
        shedding.interrupt();
        threads.shutdownNow();
    }
}
