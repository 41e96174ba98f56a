package dev.puri.resolver.table;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the rows that one thread reads from a snapshot, by owner, shard, collection and status. The three arrays are a
 * direct-mapped cache of counters, because most rows belong to a few groups. A group is a combination of owner, shard,
 * collection and status. A counter that is evicted from the cache is added to a map.
 */
final class RowCounts implements RowCodec.RowCounter {
    private static final int CACHE_SIZE = 1 << 10;
    private static final long NO_GROUP = -1;

    private final long[] ownersAndShards = new long[CACHE_SIZE];
    private final long[] collectionsAndStatuses = new long[CACHE_SIZE];
    private final int[] counts = new int[CACHE_SIZE];
    private final Map<RowGroup, Integer> evicted = new HashMap<>();
    private final Map<Integer, Integer> mergedRowsBySurvivorCollection = new HashMap<>();

    /** The rows with the same owner and shard, and the same collection and status. */
    private record RowGroup(long ownerAndShard, long collectionAndStatus) {}

    RowCounts() {
        Arrays.fill(ownersAndShards, NO_GROUP);
    }

    @Override
    public void count(int collection, int owner, int shard, int status, int delta) {
        long ownerAndShard = (long) owner << 32 | shard;
        long collectionAndStatus = (long) collection << 2 | status;
        int index = (int) ((ownerAndShard * 31 + collectionAndStatus) * 0x9E3779B97F4A7C15L >>> 54);
        if (ownersAndShards[index] != ownerAndShard || collectionsAndStatuses[index] != collectionAndStatus) {
            evict(index);
            ownersAndShards[index] = ownerAndShard;
            collectionsAndStatuses[index] = collectionAndStatus;
        }
        counts[index] += delta;
    }

    @Override
    public void countSurvivor(int collection, int delta) {
        mergedRowsBySurvivorCollection.merge(collection, delta, Integer::sum);
    }

    private void evict(int index) {
        if (counts[index] != 0) {
            evicted.merge(
                    new RowGroup(ownersAndShards[index], collectionsAndStatuses[index]), counts[index], Integer::sum);
            counts[index] = 0;
        }
    }

    /** Adds all counts to the totals of a table. */
    void addTo(RowCodec.RowCounter totals) {
        for (int index = 0; index < CACHE_SIZE; index++) {
            evict(index);
        }
        evicted.forEach((group, count) -> totals.count(
                (int) (group.collectionAndStatus >>> 2),
                (int) (group.ownerAndShard >>> 32),
                (int) group.ownerAndShard,
                (int) (group.collectionAndStatus & 3),
                count));
        mergedRowsBySurvivorCollection.forEach(totals::countSurvivor);
    }
}
