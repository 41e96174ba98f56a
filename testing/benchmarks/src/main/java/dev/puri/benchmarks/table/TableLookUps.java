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

/** Measures look-ups by pURI and by handle, with uniform, skewed and missing keys; also measures scans. */
final class TableLookUps {
    private static final String OURS = "ours ";
    private static final String HASH_MAP = "java.util.HashMap of decoded rows";

    /** Number of rows that the scan of a baseline reads; its rate does not depend on the number. */
    private static final int SCANNED_ROWS = 1_000_000;

    private final TableBench bench;
    private final RowStore ours;
    private final Map<String, RowStore> baselines;
    private final @Nullable Map<Puri, Row> hashMap;
    private final Random random;

    /**
     * Fills the baseline {@code HashMap}.
     *
     * @param baselines stores with the same rows, by name
     */
    TableLookUps(TableBench bench, PackedTable table, Map<String, RowStore> baselines) {
        this.bench = bench;
        this.ours = new OurTable(table);
        this.baselines = baselines;
        this.hashMap = bench.fitsOnHeap() ? rowsByPuri(table) : null;
        this.random = new Random(bench.rows);
    }

    private static Map<Puri, Row> rowsByPuri(PackedTable table) {
        Map<Puri, Row> map = new HashMap<>();
        table.scan(identity -> map.put(identity.puri(), identity.row()));
        return map;
    }

    void measure() throws Exception {
        Rounds uniform = measureGets("", LookUpKeys::even, true);
        String name = "get by pURI";
        uniform.addIfMeasured(name, "1/s", OURS + name, HASH_MAP, bench.heapOmissionReason());
        measureGets(", skewed", LookUpKeys::skewed, true);
        measureGets(", not there", LookUpKeys::missing, false);
        measureScans();
    }

    /** Draws keys to look up. */
    private interface KeySource {
        LookUpKeys draw(int count, int rows, Random random);
    }

    private Rounds measureGets(String suffix, KeySource keySource, boolean areFound) throws Exception {
        String byPuri = "get by pURI" + suffix;
        String byHandle = "get by handle" + suffix;
        Rounds rounds = bench.measureRounds(bench.rounds, "a second", (round, recorder) -> {
            LookUpKeys keys = keySource.draw(bench.gets, bench.rows, random);
            recorder.record(OURS + byPuri, byPuri(ours, keys, areFound));
            for (Map.Entry<String, RowStore> baseline : baselines.entrySet()) {
                recorder.record(baseline.getKey() + " " + byPuri, byPuri(baseline.getValue(), keys, areFound));
            }
            if (hashMap != null && suffix.isEmpty()) {
                recorder.record(HASH_MAP, Timing.perSecond(keys.count(), i -> hashMap.get(keys.puris()[i]) != null));
            }
            recorder.record(OURS + byHandle, byHandle(ours, keys, areFound));
            for (Map.Entry<String, RowStore> baseline : baselines.entrySet()) {
                recorder.record(baseline.getKey() + " " + byHandle, byHandle(baseline.getValue(), keys, areFound));
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

    private static double byPuri(RowStore store, LookUpKeys keys, boolean areFound) {
        return Timing.perSecond(keys.count(), i -> store.byPuri(keys.puris()[i]) != null == areFound);
    }

    private static double byHandle(RowStore store, LookUpKeys keys, boolean areFound) {
        return Timing.perSecond(keys.count(), i -> store.byHandle(keys.handles()[i]) != null == areFound);
    }

    private void measureScans() throws Exception {
        Rounds rounds = bench.measureRounds(bench.fills, "rows scanned a second", (round, recorder) -> {
            recorder.record(OURS, scanRate(ours, bench.rows));
            for (Map.Entry<String, RowStore> baseline : baselines.entrySet()) {
                recorder.record(baseline.getKey(), scanRate(baseline.getValue(), Math.min(bench.rows, SCANNED_ROWS)));
            }
        });
        rounds.addForEachBaseline("scan", "rows/s", OURS, List.copyOf(baselines.keySet()));
    }

    private static double scanRate(RowStore store, long rows) {
        long startNanos = System.nanoTime();
        long scannedRows = store.scan(rows);
        double seconds = Timing.seconds(startNanos);
        if (scannedRows != rows) {
            throw new IllegalStateException("a scan returned " + scannedRows + " rows instead of " + rows);
        }
        return rows / seconds;
    }
}
