package dev.puri.benchmarks;

import dev.puri.resolver.TableClient;
import dev.puri.resolver.table.PackedTable;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** How fast the table and its baselines are filled from the topic, and what look-ups bear meanwhile. */
final class Restores {
    private static final String OURS = "ours";
    private static final String ROCKS_DB = "global store RocksDB, tuned, each record decoded to a row";
    private static final String NO_OP = "no-op global store, each record decoded to a row";
    private static final String ROCKS_DB_BYTES = "GlobalKTable RocksDB, tuned, bytes as they are";
    private static final String NO_OP_BYTES = "no-op global store, bytes as they are";
    private static final String IN_MEMORY = "GlobalKTable in-memory store, bytes as they are";

    /** Few enough for the reader to have them at hand. */
    private static final int LOOKED_UP = 200_000;

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
            turn.did(OURS, ours(from, rows));
            turn.did(ROCKS_DB, theirs(from, rows, GlobalStores::rocksDbDecoding));
            turn.did(NO_OP, theirs(from, rows, GlobalStores::noOpDecoding));
            turn.did(ROCKS_DB_BYTES, theirs(from, rows, GlobalStores::rocksDb));
            turn.did(NO_OP_BYTES, theirs(from, rows, GlobalStores::noOp));
            if (plan.fitsOnHeap()) {
                turn.did(IN_MEMORY, theirs(from, rows, GlobalStores::inMemory));
            }
        });
        Histogram nanos = besideLookUps();
        String name = "restore from topic";
        String unit = "rows/s";
        return List.of(
                rounds.figure(name, unit, OURS, ROCKS_DB, ROCKS_DB),
                rounds.figure(name, unit, OURS, NO_OP, NO_OP),
                rounds.figure(name, unit, OURS, ROCKS_DB_BYTES, ROCKS_DB_BYTES),
                rounds.figure(name, unit, OURS, NO_OP_BYTES, NO_OP_BYTES),
                plan.fitsOnHeap()
                        ? rounds.figure(name, unit, OURS, IN_MEMORY, IN_MEMORY)
                        : new Figure(name, unit, rounds.median(OURS), TableBench.leftOut(IN_MEMORY), null),
                Figure.alone("look-up beside a restore p99.9", "µs", nanos.getValueAtPercentile(99.9) / 1e3),
                Figure.alone("look-up beside a restore, longest", "µs", nanos.getMaxValue() / 1e3));
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

    /** One more fill, while a second thread looks up without a pause. */
    private Histogram besideLookUps() throws InterruptedException {
        System.gc();
        Random random = new Random(plan.rows());
        Wanted wanted = Wanted.of(Math.min(LOOKED_UP, plan.gets()), () -> random.nextInt(plan.rows()));
        Histogram nanos = Pace.histogram();
        PackedTable table = new PackedTable();
        AtomicBoolean over = new AtomicBoolean();
        try (TableClient client = OurTable.client(broker, table, "ours" + made++)) {
            Thread reader = Thread.ofPlatform().start(() -> {
                for (int i = 0; !over.get(); i = i + 1 == wanted.count() ? 0 : i + 1) {
                    long asked = System.nanoTime();
                    table.byPuri(wanted.puris()[i]);
                    Pace.record(System.nanoTime() - asked, nanos);
                }
            });
            long begun = System.nanoTime();
            try {
                client.start();
            } finally {
                over.set(true);
                reader.join();
            }
            progress.accept("restored %,.0f rows a second beside %,d look-ups; p99.9 %.1f µs, longest %.1f µs"
                    .formatted(
                            plan.rows() / Pace.seconds(begun),
                            nanos.getTotalCount(),
                            nanos.getValueAtPercentile(99.9) / 1e3,
                            nanos.getMaxValue() / 1e3));
            OurTable.requireRows(table, plan.rows());
        }
        return nanos;
    }
}
