package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that search, since the listener's must not block. As many searches run as there are threads, and as
 * many wait as the queue holds; those that are too many are told so at once.
 */
final class SearchPool implements AutoCloseable {
    static final ProblemType TOO_MANY_SEARCHES =
            new ProblemType("too-many-searches", "Too many searches wait for their turn", 503);

    private final ThreadPoolExecutor threads;

    /** Finds out what to answer, where it may take its time. */
    @FunctionalInterface
    interface Work {
        /** What answers, on the exchange's event loop. */
        Runnable run();
    }

    SearchPool(int size, int queue, MeterRegistry meters) {
        threads = new ThreadPoolExecutor(
                size,
                size,
                0,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(queue),
                Thread.ofPlatform().name("search-", 0).daemon(true).factory());
        Gauge.builder("puri.search.queue", threads, all -> all.getQueue().size())
                .description("Searches that wait for their turn")
                .register(meters);
    }

    /** Does the work, and answers on the event loop; from any thread. */
    void run(Exchange exchange, Work work) {
        try {
            threads.execute(() -> {
                if (exchange.isOver()) {
                    return;
                }
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
            });
        } catch (RejectedExecutionException e) {
            exchange.later(() -> exchange.header("Retry-After", "1")
                    .problem(Problem.of(TOO_MANY_SEARCHES, "As many searches wait as may.")));
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
