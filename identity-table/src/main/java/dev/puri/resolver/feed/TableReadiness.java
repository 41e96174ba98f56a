package dev.puri.resolver.feed;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whether the serving table is ready, from its state at one time.
 *
 * @param fed whether a client feeds the serving table
 * @param running whether that client is alive
 * @param waitingFor why the client waits for the schema registry; null when it does not
 * @param trouble another reason why the table cannot be fed; null when there is none
 * @param behind the table's lag, in records
 * @param age how long ago the brokers reported the end offsets; null when they never did
 * @param hanging describes a transaction that hides later records; null when there is none
 */
record TableReadiness(
        boolean fed,
        boolean running,
        @Nullable String waitingFor,
        @Nullable String trouble,
        long behind,
        @Nullable Duration age,
        @Nullable String hanging) {
    /**
     * Why the table is not ready; null when it is.
     *
     * @param maxLag the largest lag of a ready table, in records
     * @param maxLagAge how old the end offsets may be
     */
    @Nullable
    String unready(long maxLag, Duration maxLagAge) {
        if (waitingFor != null) {
            return "the schema registry is waited for: " + waitingFor;
        }
        if (!fed) {
            return trouble != null ? trouble : "the table is being filled";
        }
        if (!running) {
            return "the table's client is dead";
        }
        if (age == null || age.compareTo(maxLagAge) > 0) {
            return trouble != null ? trouble : "not known how far behind the table is";
        }
        return behind > maxLag ? "the table is " + behind + " records behind, more than " + maxLag : hanging;
    }
}
