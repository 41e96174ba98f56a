package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
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
 * A thread pool for searches, because the listener's event loop must not block. No search waits in the queue for longer
 * than a bound:
 *
 * <pre>
 * submit ─▶ expected wait too long? ─▶ queue ─▶ actual wait too long? ─▶ search
 *                    │ 503 at once                       │ 503
 * </pre>
 *
 * The first check estimates the wait from the length of the queue and the mean duration of recent searches. It refuses
 * a search early, so that the client can try another instance. The second check keeps the bound if the searches ahead
 * are slower than the mean.
 */
final class SearchPool implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SearchPool.class);

    static final ProblemType TOO_MANY_SEARCHES =
            new ProblemType("too-many-searches", "Too many searches are waiting", 503);

    /** Each search contributes one eighth to the moving mean, as in TCP's estimate of round-trip times (RFC 6298). */
    private static final int MEAN_DIVISOR = 8;

    /**
     * The time between two checks for queued searches that have waited too long. A thread that becomes free checks its
     * next search itself.
     */
    private static final Duration SHED_INTERVAL = Duration.ofMillis(100);

    private final ThreadPoolExecutor threads;
    private final BlockingQueue<Runnable> queue;
    private final Stop stop = new Stop();
    private final SupervisedThread shedder = new SupervisedThread(
            "search-shedding", stop, RetryPolicy.fixed(SHED_INTERVAL), this::shedOverdue, this::onSheddingFailure);
    private final int threadCount;
    private final long maxWaitNanos;
    private final LongSupplier nanoClock;
    private final AtomicInteger runningCount = new AtomicInteger();
    private final AtomicLong meanDurationNanos = new AtomicLong();
    private final Counter refusals;

    private final FailureState sheddingFailure = new FailureState();

    /** A search that runs on a thread of the pool and may block. */
    @FunctionalInterface
    interface Search {
        /** Searches. Returns the code that sends the response; it runs on the exchange's event loop. */
        Runnable run();
    }

    /** A search in the pool: it either runs or is refused, and responds in both cases. */
    interface Task {
        /** Whether a response is no longer possible or needed. Such a task is dropped. */
        boolean isOver();

        /** Runs the search. Must not throw. */
        void run();

        /**
         * Refuses the search.
         *
         * @param wait how long the search has waited, or would wait
         */
        void refuse(Duration wait);
    }

    /**
     * @param threadCount maximum number of concurrent searches
     * @param queueCapacity maximum number of waiting searches
     * @param maxWait maximum time that a search may wait in the queue
     * @param nanoClock the clock, like {@link System#nanoTime}
     */
    SearchPool(int threadCount, int queueCapacity, Duration maxWait, LongSupplier nanoClock, MeterRegistry meters) {
        this.threadCount = threadCount;
        this.maxWaitNanos = maxWait.toNanos();
        this.nanoClock = nanoClock;
        this.queue = new ArrayBlockingQueue<>(queueCapacity);
        threads = new ThreadPoolExecutor(
                threadCount,
                threadCount,
                0,
                TimeUnit.SECONDS,
                queue,
                Thread.ofPlatform().name("search-", 0).daemon(true).factory());
        Gauge.builder("puri.search.queue", queue, BlockingQueue::size)
                .description("Searches that wait in the queue")
                .register(meters);
        refusals = Counter.builder("puri.search.shed")
                .description("Searches refused because they waited, or would have waited, too long in the queue")
                .register(meters);
        shedder.start();
    }

    /** Queues a search of a request, or responds 503 if it would wait too long. Thread-safe. */
    void submit(Exchange exchange, Search search) {
        submit(new ExchangeTask(exchange, search));
    }

    /** Queues a task, or refuses it if it would wait too long. Thread-safe. */
    void submit(Task task) {
        long wait = expectedWaitNanos();
        if (wait > maxWaitNanos) {
            refuse(task, wait);
            return;
        }
        try {
            threads.execute(new QueuedTask(task, nanoClock.getAsLong()));
        } catch (RejectedExecutionException e) {
            refuse(task, wait);
        }
    }

    /** Returns the expected wait of a new search; zero while a thread is idle. */
    private long expectedWaitNanos() {
        return runningCount.get() < threadCount ? 0 : (queue.size() + 1L) * meanDurationNanos.get() / threadCount;
    }

    /** Whether no search is running. */
    boolean isIdle() {
        return runningCount.get() == 0;
    }

    /** Refuses queued searches that have waited too long. */
    void shedOverdue() {
        long now = nanoClock.getAsLong();
        // The queue is ordered by submission.
        while (queue.peek() instanceof QueuedTask queued && now - queued.submittedAtNanos > maxWaitNanos) {
            if (queue.remove(queued)) {
                refuse(queued.task, now - queued.submittedAtNanos);
            }
        }
        sheddingFailure.clear();
    }

    private void onSheddingFailure(Throwable cause) {
        if (sheddingFailure.changeTo(cause.toString())) {
            log.error("Refusing overdue searches failed; will retry", cause);
        }
    }

    private void refuse(Task task, long waitNanos) {
        refusals.increment();
        task.refuse(Duration.ofNanos(waitNanos));
    }

    /** A task that waits in the queue. */
    private final class QueuedTask implements Runnable {
        private final Task task;
        private final long submittedAtNanos;

        QueuedTask(Task task, long submittedAtNanos) {
            this.task = task;
            this.submittedAtNanos = submittedAtNanos;
        }

        @Override
        public void run() {
            if (task.isOver()) {
                return;
            }
            long startedAtNanos = nanoClock.getAsLong();
            if (startedAtNanos - submittedAtNanos > maxWaitNanos) {
                refuse(task, startedAtNanos - submittedAtNanos);
                return;
            }
            runningCount.incrementAndGet();
            try {
                task.run();
            } finally {
                long durationNanos = nanoClock.getAsLong() - startedAtNanos;
                meanDurationNanos.accumulateAndGet(durationNanos, (mean, last) -> mean + (last - mean) / MEAN_DIVISOR);
                runningCount.decrementAndGet();
            }
        }
    }

    /** The task of an HTTP request. */
    private record ExchangeTask(Exchange exchange, Search search) implements Task {
        @Override
        public boolean isOver() {
            return exchange.isOver();
        }

        @Override
        public void run() {
            Runnable response;
            try {
                response = search.run();
            } catch (RuntimeException | Error e) {
                // The client must get a response. An Error must end only this search and not the thread.
                response = () -> {
                    throw e instanceof RuntimeException bug ? bug : new IllegalStateException(e);
                };
            }
            exchange.runOnEventLoop(response);
        }

        @Override
        public void refuse(Duration wait) {
            long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
            exchange.runOnEventLoop(() -> exchange.header("Retry-After", Long.toString(seconds))
                    .problem(Problem.of(TOO_MANY_SEARCHES, "More searches are waiting than can be run in time.")));
        }
    }

    @Override
    public void close() {
        stop.request();
        shedder.interrupt();
        threads.shutdownNow();
    }
}
