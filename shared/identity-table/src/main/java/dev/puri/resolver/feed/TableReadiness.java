package dev.puri.resolver.feed;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The state of the serving table at one time, from which {@link #unreadyReason} decides whether the table is ready.
 *
 * @param isServingTableFed whether a feeder updates the serving table; false while a feeder fills another table
 * @param isFeederRunning whether the feeder is alive
 * @param schemaRegistryProblem why the feeder waits for the schema registry; null if it does not wait
 * @param problem another reason why the table cannot be fed; null if there is none
 * @param wrongContent why the serving table may lack or have wrong rows; null if nothing is known
 * @param lag the lag of the table, in records
 * @param lagAge the time since the brokers reported the end offsets; null if they never did
 * @param hangingTransaction describes an open transaction that hides later records; null if there is none
 */
record TableReadiness(
        boolean isServingTableFed,
        boolean isFeederRunning,
        @Nullable String schemaRegistryProblem,
        @Nullable String problem,
        @Nullable String wrongContent,
        long lag,
        @Nullable Duration lagAge,
        @Nullable String hangingTransaction) {
    /**
     * Returns why the table is not ready, or null if it is ready.
     *
     * @param maxLag the maximum lag of a ready table, in records
     * @param maxLagAge the maximum age of the end offsets
     */
    @Nullable
    String unreadyReason(long maxLag, Duration maxLagAge) {
        if (schemaRegistryProblem != null) {
            return "waiting for the schema registry: " + schemaRegistryProblem;
        }
        if (!isServingTableFed) {
            return problem != null ? problem : "the table is being filled";
        }
        if (!isFeederRunning) {
            return "the Kafka Streams client of the table has stopped";
        }
        if (wrongContent != null) {
            return wrongContent;
        }
        if (lagAge == null || lagAge.compareTo(maxLagAge) > 0) {
            return problem != null ? problem : "the lag of the table is not known";
        }
        return lag > maxLag ? "the table is " + lag + " records behind, more than " + maxLag : hangingTransaction;
    }
}
