package dev.puri.benchmarks;

import dev.puri.resolver.table.PackedTable;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** Look-ups while another thread changes rows at an even pace. */
final class BesidePuts {
    private static final int PER_SECOND = 50_000;
    private static final String BESIDE = "beside 50 k puts/s";
    private static final String IDLE = "idle";

    private final TableBench.Plan plan;
    private final PackedTable table;
    private final Consumer<String> progress;

    BesidePuts(TableBench.Plan plan, PackedTable table, Consumer<String> progress) {
        this.plan = plan;
        this.table = table;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        Random random = new Random(plan.rows() + 1L);
        Histogram nanos = Pace.histogram();
        Rounds rounds = new Rounds(plan.rounds(), progress).run("a second, get by pURI", (round, turn) -> {
            // Who is second finds the processor's caches as the first left them.
            boolean idleFirst = round % 2 == 0;
            if (idleFirst) {
                turn.record(IDLE, pace(wanted(random)));
            }
            Wanted paced = wanted(random);
            Wanted recorded = round > 0 ? wanted(random) : Wanted.NOTHING;
            AtomicBoolean over = new AtomicBoolean();
            Thread writer = Thread.ofPlatform().start(() -> put(new Random(round), over));
            try {
                turn.record(BESIDE, pace(paced));
                record(recorded, nanos);
            } finally {
                over.set(true);
                writer.join();
            }
            if (!idleFirst) {
                turn.record(IDLE, pace(wanted(random)));
            }
        });
        String name = "get by pURI beside 50 k puts/s";
        return List.of(
                rounds.figure(name, "1/s", BESIDE, "the same get, idle", IDLE),
                Figure.alone(name + " p99.9", "µs", nanos.getValueAtPercentile(99.9) / 1e3),
                Figure.alone(name + ", longest", "µs", nanos.getMaxValue() / 1e3));
    }

    /** Never the same twice: what was looked up once is at hand. */
    private Wanted wanted(Random random) {
        return Wanted.of(plan.gets(), () -> random.nextInt(plan.rows()));
    }

    private double pace(Wanted wanted) {
        return Pace.of(wanted.count(), i -> table.byPuri(wanted.puris()[i]) != null);
    }

    private void record(Wanted wanted, Histogram nanos) {
        for (int i = 0; i < wanted.count(); i++) {
            long begun = System.nanoTime();
            table.byPuri(wanted.puris()[i]);
            Pace.record(System.nanoTime() - begun, nanos);
        }
    }

    /** A millisecond's worth at a time. */
    private void put(Random random, AtomicBoolean over) {
        long begun = System.nanoTime();
        for (long put = 0; !over.get(); put++) {
            int number = random.nextInt(plan.rows());
            table.put(Population.puri(number), Population.row(number, put));
            long due = begun + put * TimeUnit.SECONDS.toNanos(1) / PER_SECOND;
            if (put % (PER_SECOND / 1000) == 0 && due > System.nanoTime()) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
        }
    }
}
