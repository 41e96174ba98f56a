package dev.puri.benchmarks;

import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Look-ups by both doors, evenly spread, skewed and for what is not there, and scans. */
final class Gets {
    private static final String OURS = "ours ";
    private static final String HASH_MAP = "java.util.HashMap of decoded rows";
    private static final double SKEW = 0.99;

    /** Rows a second do not depend on how many more there are. */
    private static final int SCANNED = 1_000_000;

    private final TableBench.Plan plan;
    private final Doors ours;
    private final Map<String, Doors> baselines;
    private final @Nullable Map<Puri, Row> map;
    private final Random random;
    private final Consumer<String> progress;
    private final List<Figure> figures = new ArrayList<>();

    /**
     * @param baselines by name, with the same rows
     */
    Gets(TableBench.Plan plan, PackedTable table, Map<String, Doors> baselines, Consumer<String> progress) {
        this.plan = plan;
        this.ours = new Doors.Ours(table);
        this.baselines = baselines;
        this.map = plan.fitsOnHeap() ? map(table) : null;
        this.random = new Random(plan.rows());
        this.progress = progress;
    }

    private static Map<Puri, Row> map(PackedTable table) {
        Map<Puri, Row> map = new HashMap<>();
        table.scan(identity -> map.put(identity.puri(), identity.row()));
        return map;
    }

    List<Figure> measure() throws Exception {
        even();
        LongSupplier skewed = skewed();
        byBothDoors(", skewed", skewed, true);
        byBothDoors(", not there", () -> Population.missing(random.nextInt(plan.rows())), false);
        scans();
        return figures;
    }

    private LongSupplier skewed() {
        Zipf zipf = new Zipf(plan.rows(), SKEW);
        return () -> zipf.next(random);
    }

    private void even() throws Exception {
        Rounds rounds = byBothDoors("", () -> random.nextInt(plan.rows()), true);
        String name = "get by pURI";
        figures.add(
                map == null
                        ? new Figure(name, "1/s", rounds.median(OURS + name), TableBench.leftOut(HASH_MAP), null)
                        : rounds.figure(name, "1/s", OURS + name, HASH_MAP, HASH_MAP));
    }

    private Rounds byBothDoors(String which, LongSupplier numbers, boolean areThere) throws Exception {
        String byPuri = "get by pURI" + which;
        String byHandle = "get by handle" + which;
        Rounds rounds = new Rounds(plan.rounds(), progress).run("a second", (round, turn) -> {
            Wanted wanted = Wanted.of(plan.gets(), numbers);
            turn.record(OURS + byPuri, byPuri(ours, wanted, areThere));
            for (Map.Entry<String, Doors> each : baselines.entrySet()) {
                turn.record(each.getKey() + " " + byPuri, byPuri(each.getValue(), wanted, areThere));
            }
            if (map != null && which.isEmpty()) {
                turn.record(HASH_MAP, Pace.of(plan.gets(), i -> map.get(wanted.puris()[i]) != null));
            }
            turn.record(OURS + byHandle, byHandle(ours, wanted, areThere));
            for (Map.Entry<String, Doors> each : baselines.entrySet()) {
                turn.record(each.getKey() + " " + byHandle, byHandle(each.getValue(), wanted, areThere));
            }
        });
        for (String baseline : baselines.keySet()) {
            figures.add(rounds.figure(byPuri, "1/s", OURS + byPuri, baseline, baseline + " " + byPuri));
        }
        for (String baseline : baselines.keySet()) {
            figures.add(rounds.figure(
                    byHandle, "1/s", OURS + byHandle, baseline + ", handle map then row", baseline + " " + byHandle));
        }
        return rounds;
    }

    private static double byPuri(Doors doors, Wanted wanted, boolean areThere) {
        return Pace.of(wanted.count(), i -> doors.byPuri(wanted.puris()[i]) != null == areThere);
    }

    private static double byHandle(Doors doors, Wanted wanted, boolean areThere) {
        return Pace.of(wanted.count(), i -> doors.byHandle(wanted.handles()[i]) != null == areThere);
    }

    private void scans() throws Exception {
        Rounds rounds = new Rounds(plan.fills(), progress).run("rows scanned a second", (round, turn) -> {
            turn.record(OURS, scanned(ours, plan.rows()));
            for (Map.Entry<String, Doors> each : baselines.entrySet()) {
                turn.record(each.getKey(), scanned(each.getValue(), Math.min(plan.rows(), SCANNED)));
            }
        });
        for (String baseline : baselines.keySet()) {
            figures.add(rounds.figure("scan", "rows/s", OURS, baseline, baseline));
        }
    }

    private static double scanned(Doors doors, long rows) {
        long begun = System.nanoTime();
        long seen = doors.scan(rows);
        double seconds = Pace.seconds(begun);
        if (seen != rows) {
            throw new IllegalStateException("a scan showed " + seen + " rows instead of " + rows);
        }
        return rows / seconds;
    }
}
