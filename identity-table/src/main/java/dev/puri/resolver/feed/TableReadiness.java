package dev.puri.resolver.feed;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the table stands at one moment.
 *
 * @param fed whether a client feeds the table that answers
 * @param running whether that client is alive
 * @param waitingFor what the schema registry said when it was last asked in vain; null while nothing is
 *     waited for
 * @param trouble what else is wrong, for people; null when nothing is
 * @param behind records that the table is behind its topic
 * @param age how long ago the brokers told that; null when they never did
 * @param hanging the transaction that hides what was committed after it; null when there is none
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
     * Why what the table answers may be old; null when it is not.
     *
     * @param maxLag records that it may be behind
     * @param maxLagAge how old the knowledge of that may be
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
