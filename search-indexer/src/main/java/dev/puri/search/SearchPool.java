package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.tail.FailureState;
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

    /** How often overdue searches are looked for while all threads are busy. */
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

    private final FailureState sheddingFailure = new FailureState();

    /** Computes an answer on a thread that may block. */
    @FunctionalInterface
    interface Work {
        /** The action that answers, to be run on the exchange's event loop. */
        Runnable run();
    }

    /** A search of a client. */
    interface Task {
        /** Whether the client has gone. */
        boolean isOver();

        /** Runs the search; throws nothing. */
        void run();

        /**
         * Refuses the search.
         *
         * @param wait the expected time until its turn
         */
        void refuse(Duration wait);
    }

    /**
     * @param size searches at a time
     * @param capacity of the queue
     * @param maxWait how long a search may wait for its turn
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

    /** Runs the work on a thread of the pool and its answer on the event loop; for any thread. */
    void run(Exchange exchange, Work work) {
        submit(new Answer(exchange, work));
    }

    /** Runs the task soon, or refuses it. */
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

    /** The expected wait of a new search, from the mean time of searches; zero while a thread is idle. */
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
        if (sheddingFailure.changeTo(cause.toString())) {
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
                // Nothing else would answer. An Error fails its search and not the thread.
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
