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
 * unready ─▶ delay ─▶ no new requests ─▶ streams and waits end ─▶ grace for the rest ─▶ closed
 * </pre>
 *
 * During the delay the server serves requests as before, while load balancers learn from the readiness check that they
 * should use another instance.
 */
public final class Drain {
    private Drain() {}

    /**
     * Stops all listeners, even if closing one of them fails. Returns when they are closed.
     *
     * @param health becomes unready at once
     * @param delay time before new requests are refused
     * @param endWaits ends streams and waits that would outlast the grace period
     * @throws IllegalStateException if a listener did not close
     */
    public static void run(Health health, Duration delay, Runnable endWaits, List<Listener> listeners) {
        health.add(Health.Kind.READY, "drain", () -> Health.State.down(Map.of("reason", "the server is stopping")));
        try {
            TimeUnit.MILLISECONDS.sleep(delay.toMillis());
        } catch (InterruptedException e) {
            // Continues without the rest of the delay.
            Thread.currentThread().interrupt();
        }
        listeners.forEach(Listener::drain);
        try {
            endWaits.run();
        } finally {
            closeAll(listeners.stream().<Runnable>map(each -> each::close).toList());
        }
    }

    /** Closes all concurrently, so that their grace periods overlap. */
    static void closeAll(List<Runnable> parts) {
        List<Future<?>> closings = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            parts.forEach(each -> closings.add(threads.submit(each)));
        }
        IllegalStateException failed = new IllegalStateException("not everything was closed");
        closings.stream()
                .filter(each -> each.state() == Future.State.FAILED)
                .forEach(each -> failed.addSuppressed(each.exceptionNow()));
        if (failed.getSuppressed().length > 0) {
            throw failed;
        }
    }
}
