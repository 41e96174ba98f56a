package dev.puri.benchmarks;

import dev.puri.resolver.TableClient;
import dev.puri.resolver.table.PackedTable;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.HdrHistogram.Histogram;

/**
 * How long look-ups take while the table is filled from the topic as fast as it can. Broker, consumer and writer
 * want the processors too, so beside it stands a thread that looks at the clock and looks nothing up: it is
 * held up by the machine and the JVM alone.
 */
final class BesideRestore {
    /** Few enough for the reader to have them at hand. */
    private static final int LOOKED_UP = 200_000;

    private static final String CLOCK = "the same thread, looking nothing up";

    private final TableBench.Plan plan;
    private final FreshBroker broker;
    private final Consumer<String> progress;

    BesideRestore(TableBench.Plan plan, FreshBroker broker, Consumer<String> progress) {
        this.plan = plan;
        this.broker = broker;
        this.progress = progress;
    }

    List<Figure> measure() throws InterruptedException {
        Random random = new Random(plan.rows());
        Wanted wanted = Wanted.of(Math.min(LOOKED_UP, plan.gets()), () -> random.nextInt(plan.rows()));
        Histogram lookUps = filling("look-ups", table -> i -> table.byPuri(wanted.puris()[i]), wanted.count());
        Histogram clock = filling("looks at the clock", table -> i -> {}, wanted.count());
        String name = "look-up beside a restore";
        return List.of(
                Figure.alone(name + " p99.9", "µs", micros(lookUps, 99.9)),
                new Figure(name + ", longest", "µs", micros(lookUps, 100), CLOCK, micros(clock, 100)));
    }

    /** What is done again and again while a table is filled. */
    private interface Reader {
        IntConsumer of(PackedTable table);
    }

    private Histogram filling(String what, Reader reader, int keys) throws InterruptedException {
        System.gc();
        Histogram nanos = Pace.histogram();
        PackedTable table = new PackedTable();
        IntConsumer act = reader.of(table);
        AtomicBoolean over = new AtomicBoolean();
        try (TableClient client = OurTable.client(broker, table, "beside " + what)) {
            Thread thread = Thread.ofPlatform().start(() -> {
                for (int i = 0; !over.get(); i = i + 1 == keys ? 0 : i + 1) {
                    long begun = System.nanoTime();
                    act.accept(i);
                    Pace.record(System.nanoTime() - begun, nanos);
                }
            });
            long begun = System.nanoTime();
            try {
                client.start();
            } finally {
                over.set(true);
                thread.join();
            }
            progress.accept("restored %,.0f rows a second beside %,d %s; p99.9 %.1f µs, longest %,.1f µs"
                    .formatted(
                            plan.rows() / Pace.seconds(begun),
                            nanos.getTotalCount(),
                            what,
                            micros(nanos, 99.9),
                            micros(nanos, 100)));
            OurTable.requireRows(table, plan.rows());
        }
        return nanos;
    }

    private static double micros(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e3;
    }
}
