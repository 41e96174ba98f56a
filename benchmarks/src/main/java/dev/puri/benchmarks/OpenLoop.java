package dev.puri.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Requests at fixed times, whatever becomes of those before. Each one's time counts from when it should have been
 * sent, so that a stall is seen by all that it held up, and not only by the one that met it.
 */
final class OpenLoop {
    /** What comes earlier than this part of the whole is not counted: connections open, and code gets warm. */
    private static final double WARM_UP = 0.2;

    private OpenLoop() {}

    /**
     * Asks over as many connections as {@link Wrk} has, in turn.
     *
     * @param requests sent one after the other, and over again; each has to be answered with 200
     * @param rate a second
     * @return nanoseconds
     */
    static Histogram run(int port, List<byte[]> requests, double rate, Duration duration) throws Exception {
        long period = (long) (1e9 / rate);
        int count = (int) (duration.toNanos() / period);
        long begun = System.nanoTime() + Duration.ofMillis(100).toNanos();
        List<Future<Histogram>> parts = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(Wrk.CONNECTIONS)) {
            for (int i = 0; i < Wrk.CONNECTIONS; i++) {
                int first = i;
                parts.add(threads.submit(() -> ask(port, requests, first, count, begun, period)));
            }
        }
        Histogram all = Pace.histogram();
        for (Future<Histogram> part : parts) {
            try {
                all.add(part.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("a request was not answered well", e.getCause());
            }
        }
        return all;
    }

    private static Histogram ask(int port, List<byte[]> requests, int first, int count, long begun, long period) {
        Histogram nanos = Pace.histogram();
        try (HttpSocket connection = new HttpSocket(port)) {
            for (int i = first; i < count; i += Wrk.CONNECTIONS) {
                long intended = begun + i * period;
                for (long left = intended - System.nanoTime(); left > 0; left = intended - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                HttpSocket.Answer answer = connection.ask(requests.get(i % requests.size()));
                if (answer.status() != 200) {
                    throw new IllegalStateException("answered with " + answer.head() + answer.text());
                }
                if (i >= WARM_UP * count) {
                    Pace.record(System.nanoTime() - intended, nanos);
                }
            }
            return nanos;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
