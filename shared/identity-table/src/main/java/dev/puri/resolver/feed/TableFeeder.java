package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.resolver.table.PackedTable;
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
         * @param digestCheck receives the comparisons of the table's digests with those in the topic
         * @param partitions the number of partitions of the topic
         */
        TableFeeder create(PackedTable table, DigestCheck digestCheck, int partitions);
    }

    /** Returns the table that this feeder feeds. */
    PackedTable table();

    /** Returns why the feeder waits for the schema registry; null if it does not wait. */
    @Nullable
    String schemaRegistryProblem();

    /**
     * Fills the table. Returns when the table has reached the end offsets that the topic had when this method was
     * called.
     *
     * @throws RuntimeException if this fails, or after {@link #abandon}
     */
    void start();

    /**
     * Reports each change after the records that {@link #start} has read to a receiver.
     *
     * @param createReceiver creates the receiver; its argument has the next offset of each partition, by partition
     *     number. Called by the thread that writes the table
     * @throws IllegalStateException if writing the table failed
     */
    void reportChanges(Function<long[], ? extends RowChanges> createReceiver);

    /** Makes a call of {@link #start} that runs in another thread fail. */
    void abandon();

    /** Returns whether the feeder keeps the table current. */
    boolean isRunning();

    /** Returns why the feeder has stopped. Call only if it is not running. */
    String stopReason();

    /** Stops the feeder. The table keeps its rows. */
    @Override
    void close();
}
