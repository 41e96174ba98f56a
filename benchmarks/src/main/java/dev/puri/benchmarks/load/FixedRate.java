package dev.puri.benchmarks.load;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Sends events at fixed times, whether or not earlier ones were answered (open loop). */
public final class FixedRate {
    private FixedRate() {}

    /** Sends one event. */
    public interface Sender {
        /**
         * Sends the next event.
         *
         * @param intended the nano time at which it should be sent
         * @param counts false for an event that only warms up
         */
        void send(long intended, boolean counts) throws Exception;
    }

    /**
     * The events that were sent.
     *
     * @param mostLateMillis the longest that the end of a call was behind the time at which the event should be sent
     */
    public record Sent(long count, double mostLateMillis) {}

    /**
     * Sends events.
     *
     * @param rate events a second
     * @param duration of the events that count; for a third of it before, events only warm up
     */
    public static Sent run(int rate, Duration duration, Sender sender) throws Exception {
        long period = Duration.ofSeconds(1).toNanos() / rate;
        long warmUp = duration.toSeconds() * rate / 3;
        long count = warmUp + duration.toSeconds() * rate;
        long mostLate = 0;
        long begun = System.nanoTime();
        for (long i = 0; i < count; i++) {
            long intended = begun + i * period;
            for (long left = intended - System.nanoTime(); left > 0; left = intended - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            sender.send(intended, i >= warmUp);
            mostLate = Math.max(mostLate, System.nanoTime() - intended);
        }
        return new Sent(count, mostLate / 1e6);
    }
}
