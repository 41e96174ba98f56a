package dev.puri.resolver.table;

import dev.puri.schemas.log.Row;
import java.util.Map;

/**
 * What a table holds. Each is counted by itself, so while the table is written they may be some hundred
 * rows apart: as many as are put together.
 *
 * @param rows identities, merged and deleted ones among them
 * @param handles rows that can be found by a handle
 * @param byCollection rows by {@code namespace:collection}, those without any left out
 * @param byOwner rows by owner
 * @param byShard rows by shard
 * @param byStatus rows by status
 * @param bytes memory taken outside the heap, free parts of it too
 * @param bytesInUse what of that holds rows and indexes
 * @param load the slots of the names' index that are taken, 0 to 1; the handles' is not in it
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
