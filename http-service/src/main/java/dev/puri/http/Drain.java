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
 * How a server stops so that nobody notices.
 *
 * <pre>
 * unready ─▶ delay ─▶ no new requests ─▶ streams and waits end ─▶ grace for the rest ─▶ closed
 * </pre>
 *
 * During the delay everything is answered as before, while load balancers find out that they should ask
 * another instance.
 */
public final class Drain {
    private Drain() {}

    /**
     * Stops listeners; returns when they are closed, all of them also when one of them fails.
     *
     * @param health becomes unready at once
     * @param delay zero for none
     * @param endWaits ends what would otherwise go on for longer than the grace
     * @throws IllegalStateException when some did not close
     */
    public static void run(Health health, Duration delay, Runnable endWaits, List<Listener> listeners) {
        health.add(Health.Kind.READY, "drain", () -> Health.State.down(Map.of("reason", "the server is stopping")));
        try {
            TimeUnit.MILLISECONDS.sleep(delay.toMillis());
        } catch (InterruptedException e) {
            // Whoever interrupts a stop wants it sooner.
            Thread.currentThread().interrupt();
        }
        listeners.forEach(Listener::drain);
        try {
            endWaits.run();
        } finally {
            closeAll(listeners.stream().<Runnable>map(each -> each::close).toList());
        }
    }

    /** Closes all at once, also when one cannot be, so that the grace is one and not one after the other. */
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
