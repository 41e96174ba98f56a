package dev.puri.resolver.feed;

import dev.puri.resolver.table.PackedTable;
import dev.puri.tail.DigestCheck;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fills one table from its topic and then keeps it current. {@link TableKeeper} creates a feeder for each new table.
 * Not thread-safe, except {@link #abandon}, {@link #isRunning}, {@link #table} and {@link #schemaRegistryProblem}.
 */
public interface TableFeeder extends AutoCloseable {
    /** Creates the feeder of a new table. */
    @FunctionalInterface
    interface Factory {
        /**
         * @param table an empty table, or one opened from a snapshot
         * @param digests receives the comparisons of the table's digests with those in the topic
         */
        TableFeeder create(PackedTable table, DigestCheck digests);
    }

    /** Returns the table that this feeder feeds. */
    PackedTable table();

    /** Returns why the feeder waits for the schema registry; null if it does not wait. */
    @Nullable
    String schemaRegistryProblem();

    /**
     * Fills the table. Returns when the table has reached the end offsets of the time of this call.
     *
     * @throws RuntimeException if this fails, or after {@link #abandon}
     */
    void start();

    /**
     * Reports all later changes to a receiver.
     *
     * @param partitions the number of partitions of the topic
     * @param createReceiver creates the receiver from the next offset of each partition. The thread that writes the
     *     table calls it
     * @throws IllegalStateException if writing the table failed
     */
    void goLive(int partitions, Function<long[], ? extends RowChanges> createReceiver);

    /** Makes a {@link #start} in another thread fail. */
    void abandon();

    /** Returns whether the feeder keeps the table current. */
    boolean isRunning();

    /** Returns why the feeder does not run any more. */
    String death();

    /** Stops the feeder. The table keeps its rows. */
    @Override
    void close();
}
