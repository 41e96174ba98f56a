package dev.puri.resolver.table;

import dev.puri.schemas.log.Row;
import java.util.Map;

/**
 * The counts of a table. While the table is written, the counts may contradict each other by some hundred rows, which
 * is the size of a batch.
 *
 * @param rows number of identities, including merged and deleted identities
 * @param handles number of rows with a handle
 * @param byCollection number of rows by {@code namespace:collection}, without collections that have no rows
 * @param byOwner number of rows by owner
 * @param byShard number of rows by shard
 * @param byStatus number of rows by status
 * @param bytes allocated off-heap memory
 * @param bytesInUse off-heap memory that rows and indexes use
 * @param load load factor of the index of pURIs, 0 to 1
 */
public record TableStats(
        long rows,
        long handles,
        Map<String, Long> byCollection,
        Map<String, Long> byOwner,
        Map<String, Long> byShard,
        Map<Row.Status, Long> byStatus,
        long bytes,
        long bytesInUse,
        double load) {}
