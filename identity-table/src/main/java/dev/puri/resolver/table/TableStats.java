package dev.puri.resolver.table;

import dev.puri.schemas.log.Row;
import java.util.Map;

/**
 * The counts of a table. While the table is written they may differ from each other by some hundred rows, the size of a
 * batch.
 *
 * @param rows identities, with merged and deleted ones
 * @param handles rows that can be found by a handle
 * @param byCollection rows by {@code namespace:collection}, without collections that have none
 * @param byOwner rows by owner
 * @param byShard rows by shard
 * @param byStatus rows by status
 * @param bytes off-heap memory, with its free parts
 * @param bytesInUse off-heap memory of rows and indexes
 * @param load occupied share of the slots of the index of names, 0 to 1
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
