package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.LookUpKeys;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Measures look-ups by name and handle, evenly spread, skewed and of missing rows, and scans. */
final class LookUps {
    private static final String OURS = "ours ";
    private static final String HASH_MAP = "java.util.HashMap of decoded rows";

    /** The rate of a baseline's scan does not depend on how many more rows there are. */
    private static final int SCANNED = 1_000_000;

    private final TableBench bench;
    private final RowStore ours;
    private final Map<String, RowStore> baselines;
    private final @Nullable Map<Puri, Row> map;
    private final Random random;

    /**
     * Prepares look-ups.
     *
     * @param baselines by name, with the same rows
     */
    LookUps(TableBench bench, PackedTable table, Map<String, RowStore> baselines) {
        this.bench = bench;
        this.ours = new OurTable(table);
        this.baselines = baselines;
        this.map = bench.fitsOnHeap() ? map(table) : null;
        this.random = new Random(bench.rows);
    }

    private static Map<Puri, Row> map(PackedTable table) {
        Map<Puri, Row> map = new HashMap<>();
        table.scan(identity -> map.put(identity.puri(), identity.row()));
        return map;
    }

    void measure() throws Exception {
        Rounds even = gets("", LookUpKeys::even, true);
        String name = "get by pURI";
        even.addIfMeasured(name, "1/s", OURS + name, HASH_MAP, bench.leftOut());
        gets(", skewed", LookUpKeys::skewed, true);
        gets(", not there", LookUpKeys::missing, false);
        scans();
    }

    private interface Keys {
        LookUpKeys draw(int count, int rows, Random random);
    }

    private Rounds gets(String which, Keys drawn, boolean areThere) throws Exception {
        String byPuri = "get by pURI" + which;
        String byHandle = "get by handle" + which;
        Rounds rounds = bench.measureRounds(bench.rounds, "a second", (round, recorder) -> {
            LookUpKeys keys = drawn.draw(bench.gets, bench.rows, random);
            recorder.record(OURS + byPuri, byPuri(ours, keys, areThere));
            for (Map.Entry<String, RowStore> each : baselines.entrySet()) {
                recorder.record(each.getKey() + " " + byPuri, byPuri(each.getValue(), keys, areThere));
            }
            if (map != null && which.isEmpty()) {
                recorder.record(HASH_MAP, Timing.perSecond(keys.count(), i -> map.get(keys.puris()[i]) != null));
            }
            recorder.record(OURS + byHandle, byHandle(ours, keys, areThere));
            for (Map.Entry<String, RowStore> each : baselines.entrySet()) {
                recorder.record(each.getKey() + " " + byHandle, byHandle(each.getValue(), keys, areThere));
            }
        });
        for (String baseline : baselines.keySet()) {
            rounds.add(byPuri, "1/s", OURS + byPuri, baseline, baseline + " " + byPuri);
        }
        for (String baseline : baselines.keySet()) {
            rounds.add(byHandle, "1/s", OURS + byHandle, baseline + ", handle map then row", baseline + " " + byHandle);
        }
        return rounds;
    }

    private static double byPuri(RowStore store, LookUpKeys keys, boolean areThere) {
        return Timing.perSecond(keys.count(), i -> store.byPuri(keys.puris()[i]) != null == areThere);
    }

    private static double byHandle(RowStore store, LookUpKeys keys, boolean areThere) {
        return Timing.perSecond(keys.count(), i -> store.byHandle(keys.handles()[i]) != null == areThere);
    }

    private void scans() throws Exception {
        Rounds rounds = bench.measureRounds(bench.fills, "rows scanned a second", (round, recorder) -> {
            recorder.record(OURS, scanned(ours, bench.rows));
            for (Map.Entry<String, RowStore> each : baselines.entrySet()) {
                recorder.record(each.getKey(), scanned(each.getValue(), Math.min(bench.rows, SCANNED)));
            }
        });
        rounds.addForEachBaseline("scan", "rows/s", OURS, List.copyOf(baselines.keySet()));
    }

    private static double scanned(RowStore store, long rows) {
        long startNanos = System.nanoTime();
        long seen = store.scan(rows);
        double seconds = Timing.seconds(startNanos);
        if (seen != rows) {
            throw new IllegalStateException("a scan showed " + seen + " rows instead of " + rows);
        }
        return rows / seconds;
    }
}
