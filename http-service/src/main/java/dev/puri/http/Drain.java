package dev.puri.http;

import java.time.Duration;
import java.util.List;
import java.util.Map;
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
     * Stops listeners; returns when they are closed.
     *
     * @param health becomes unready at once
     * @param delay zero for none
     * @param endWaits ends what would otherwise go on for longer than the grace
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
        endWaits.run();
        listeners.forEach(Listener::close);
    }
}
