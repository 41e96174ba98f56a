package dev.puri.resolver.table;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Counts of rows by one thread, to be added to others'. Kinds are few, so most are counted in an array. */
final class RowCounts implements RowCodec.Tally {
    private static final int CACHED = 1 << 10;
    private static final long NONE = -1;

    private final long[] kinds = new long[CACHED];
    private final int[] counts = new int[CACHED];
    private final Map<Long, Integer> others = new HashMap<>();

    RowCounts() {
        Arrays.fill(kinds, NONE);
    }

    @Override
    public void count(int collection, int owner, int shard, int status, int more) {
        long kind = (((long) collection << 20 | owner) << 20 | shard) << 2 | status;
        int at = (int) (kind * 0x9E3779B97F4A7C15L >>> 54);
        if (kinds[at] != kind) {
            flush(at);
            kinds[at] = kind;
        }
        counts[at] += more;
    }

    private void flush(int at) {
        if (counts[at] != 0) {
            others.merge(kinds[at], counts[at], Integer::sum);
            counts[at] = 0;
        }
    }

    void addTo(RowCodec.Tally total) {
        for (int at = 0; at < CACHED; at++) {
            flush(at);
        }
        others.forEach((kind, count) -> total.count(
                (int) (kind >>> 42),
                (int) (kind >>> 22 & 0xFFFFF),
                (int) (kind >>> 2 & 0xFFFFF),
                (int) (kind & 3),
                count));
    }
}
