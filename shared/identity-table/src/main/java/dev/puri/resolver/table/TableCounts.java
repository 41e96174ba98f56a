package dev.puri.resolver.table;

import dev.puri.schemas.log.Row;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts the rows of each word and status, for {@link TableStats} and for the removal of unused words. One thread
 * counts, any thread reads.
 */
final class TableCounts implements RowCodec.RowCounter {
    private final Dictionaries dictionaries;
    private final AtomicLongArray byStatus = new AtomicLongArray(Row.Status.values().length);

    TableCounts(Dictionaries dictionaries) {
        this.dictionaries = dictionaries;
    }

    @Override
    public void count(int collection, int owner, int shard, int status, int delta) {
        dictionaries.collections.addRows(collection, delta);
        dictionaries.owners.addRows(owner, delta);
        dictionaries.shards.addRows(shard, delta);
        byStatus.setRelease(status, byStatus.getPlain(status) + delta);
    }

    @Override
    public void countSurvivor(int collection, int delta) {
        dictionaries.collections.addSurvivors(collection, delta);
    }

    /** Returns the number of rows of each status. */
    Map<Row.Status, Long> byStatus() {
        Map<Row.Status, Long> rows = new EnumMap<>(Row.Status.class);
        for (Row.Status status : Row.Status.values()) {
            rows.put(status, byStatus.getAcquire(status.ordinal()));
        }
        return rows;
    }
}
