package dev.puri.benchmarks;

import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** How fast the table and its baselines are filled from the topic. */
final class Restores {
    private static final String OURS = "ours";
    private static final String ROCKS_DB = "global store RocksDB, tuned, each record decoded to a row";
    private static final String NO_OP = "no-op global store, each record decoded to a row";
    private static final String ROCKS_DB_BYTES = "GlobalKTable RocksDB, tuned, bytes as they are";
    private static final String NO_OP_BYTES = "no-op global store, bytes as they are";
    private static final String IN_MEMORY = "GlobalKTable in-memory store, bytes as they are";

    private final TableBench.Plan plan;
    private final FreshBroker broker;
    private final Consumer<String> progress;
    private int made;

    Restores(TableBench.Plan plan, FreshBroker broker, Consumer<String> progress) {
        this.plan = plan;
        this.broker = broker;
        this.progress = progress;
    }

    /** Fills a store, of a broker's topic, in a folder of its own. */
    private interface Baseline {
        GlobalStores.Filled fill(String bootstrapServers, Path dir);
    }

    /**
     * @param warm a broker with fewer rows, on which everything runs once before it counts
     */
    List<Figure> measure(FreshBroker warm, int warmRows) throws Exception {
        Rounds rounds = new Rounds(plan.fills(), progress).run("rows restored a second", (round, turn) -> {
            FreshBroker from = round == 0 ? warm : broker;
            int rows = round == 0 ? warmRows : plan.rows();
            turn.record(OURS, ours(from, rows));
            turn.record(ROCKS_DB, theirs(from, rows, GlobalStores::rocksDbDecoding));
            turn.record(NO_OP, theirs(from, rows, GlobalStores::noOpDecoding));
            turn.record(ROCKS_DB_BYTES, theirs(from, rows, GlobalStores::rocksDb));
            turn.record(NO_OP_BYTES, theirs(from, rows, GlobalStores::noOp));
            if (plan.fitsOnHeap()) {
                turn.record(IN_MEMORY, theirs(from, rows, GlobalStores::inMemory));
            }
        });
        String name = "restore from topic";
        String unit = "rows/s";
        return List.of(
                rounds.figure(name, unit, OURS, ROCKS_DB, ROCKS_DB),
                rounds.figure(name, unit, OURS, NO_OP, NO_OP),
                rounds.figure(name, unit, OURS, ROCKS_DB_BYTES, ROCKS_DB_BYTES),
                rounds.figure(name, unit, OURS, NO_OP_BYTES, NO_OP_BYTES),
                plan.fitsOnHeap()
                        ? rounds.figure(name, unit, OURS, IN_MEMORY, IN_MEMORY)
                        : new Figure(name, unit, rounds.median(OURS), TableBench.leftOut(IN_MEMORY), null));
    }

    private double ours(FreshBroker from, int rows) {
        System.gc();
        try (TableClient client = OurTable.client(from, new PackedTable(), "ours" + made++)) {
            long begun = System.nanoTime();
            client.start();
            double seconds = Pace.seconds(begun);
            OurTable.requireRows(client.table(), rows);
            return rows / seconds;
        }
    }

    private double theirs(FreshBroker from, int rows, Baseline baseline) {
        System.gc();
        Path dir = from.directory("theirs" + made++);
        try (GlobalStores.Filled filled = baseline.fill(from.bootstrapServers(), dir)) {
            return rows / filled.seconds();
        } finally {
            FreshBroker.delete(dir);
        }
    }
}
