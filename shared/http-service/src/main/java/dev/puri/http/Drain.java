package dev.puri.http;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Stops a server gracefully.
 *
 * <pre>
 * unready ─▶ delay ─▶ refuse new requests ─▶ end streams and waiting requests ─▶ grace period ─▶ closed
 * </pre>
 *
 * During the delay the server serves requests as before. Meanwhile load balancers see that it is not ready, and use
 * another instance.
 */
public final class Drain {
    private Drain() {}

    /**
     * Stops all listeners, even if the close of one listener fails. Returns when they are closed.
     *
     * @param health reports unready from now on
     * @param delay the time until new requests are refused
     * @param endLongRequests ends the streams and the requests that wait for an event, which would outlast the grace
     *     period
     * @throws IllegalStateException if a listener did not close
     */
    public static void run(Health health, Duration delay, Runnable endLongRequests, List<Listener> listeners) {
        health.add(Health.Kind.READY, "drain", () -> Health.State.down(Map.of("reason", "the server is stopping")));
        boolean isInterrupted = false;
        try {
            TimeUnit.MILLISECONDS.sleep(delay.toMillis());
        } catch (InterruptedException e) {
            // Continues without the rest of the delay.
            isInterrupted = true;
        }
        listeners.forEach(Listener::drain);
        try {
            endLongRequests.run();
        } finally {
            closeAll(listeners.stream()
                    .<Runnable>map(listener -> listener::close)
                    .toList());
            if (isInterrupted) {
                // Not before, because the closing would not wait for the requests.
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs all close actions concurrently, so that the grace periods overlap. */
    static void closeAll(List<Runnable> closeActions) {
        List<Future<?>> closings = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            closeActions.forEach(action -> closings.add(threads.submit(action)));
        }
        IllegalStateException failure = new IllegalStateException("some listeners did not close");
        closings.stream()
                .filter(closing -> closing.state() == Future.State.FAILED)
                .forEach(closing -> failure.addSuppressed(closing.exceptionNow()));
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}
