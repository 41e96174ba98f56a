package dev.puri.resolver.table;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Row counts of one thread, which are added to those of other threads. Most kinds are counted in an array. */
final class RowCounts implements RowCodec.RowCounter {
    private static final int CACHED = 1 << 10;
    private static final long NONE = -1;

    private final long[] places = new long[CACHED];
    private final long[] sorts = new long[CACHED];
    private final int[] counts = new int[CACHED];
    private final Map<Kind, Integer> others = new HashMap<>();
    private final Map<Integer, Integer> survivors = new HashMap<>();

    /**
     * A kind of rows, which is counted exactly.
     *
     * @param place owner and shard
     * @param sort collection and status
     */
    private record Kind(long place, long sort) {}

    RowCounts() {
        Arrays.fill(places, NONE);
    }

    @Override
    public void count(int collection, int owner, int shard, int status, int more) {
        long place = (long) owner << 32 | shard;
        long sort = (long) collection << 2 | status;
        int at = (int) ((place * 31 + sort) * 0x9E3779B97F4A7C15L >>> 54);
        if (places[at] != place || sorts[at] != sort) {
            flush(at);
            places[at] = place;
            sorts[at] = sort;
        }
        counts[at] += more;
    }

    @Override
    public void countSurvivor(int collection, int more) {
        survivors.merge(collection, more, Integer::sum);
    }

    private void flush(int at) {
        if (counts[at] != 0) {
            others.merge(new Kind(places[at], sorts[at]), counts[at], Integer::sum);
            counts[at] = 0;
        }
    }

    void addTo(RowCodec.RowCounter total) {
        for (int at = 0; at < CACHED; at++) {
            flush(at);
        }
        others.forEach((kind, count) -> total.count(
                (int) (kind.sort >>> 2), (int) (kind.place >>> 32), (int) kind.place, (int) (kind.sort & 3), count));
        survivors.forEach(total::countSurvivor);
    }
}
