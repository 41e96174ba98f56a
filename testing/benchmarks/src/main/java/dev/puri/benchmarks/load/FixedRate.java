package dev.puri.benchmarks.load;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Sends events at fixed times, whether or not earlier events were acknowledged (open loop). */
public final class FixedRate {
    private FixedRate() {}

    /** Sends one event. */
    public interface Sender {
        /**
         * Sends the next event.
         *
         * @param intendedNanos the nano time at which the event should be sent
         * @param counts false if the event is part of the warm-up
         */
        void send(long intendedNanos, boolean counts) throws Exception;
    }

    /**
     * Sends events, and waits until a seeker has found as many identities.
     *
     * @param rate events per second
     * @param seconds duration of the measured part; a warm-up of a third of this duration precedes it
     * @return maximum time from the intended time of an event to the return of its {@link Sender#send}, in milliseconds
     */
    public static double run(int rate, int seconds, Seeker seeker, Sender sender) throws Exception {
        long periodNanos = Duration.ofSeconds(1).toNanos() / rate;
        long warmUpCount = (long) seconds * rate / 3;
        long count = warmUpCount + (long) seconds * rate;
        long maxDelayNanos = 0;
        long startNanos = System.nanoTime();
        for (long i = 0; i < count; i++) {
            long intendedNanos = startNanos + i * periodNanos;
            for (long waitNanos = intendedNanos - System.nanoTime();
                    waitNanos > 0;
                    waitNanos = intendedNanos - System.nanoTime()) {
                LockSupport.parkNanos(waitNanos);
            }
            sender.send(intendedNanos, i >= warmUpCount);
            maxDelayNanos = Math.max(maxDelayNanos, System.nanoTime() - intendedNanos);
        }
        seeker.awaitAll(count);
        return maxDelayNanos / 1e6;
    }
}
