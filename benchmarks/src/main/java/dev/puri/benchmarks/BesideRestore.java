package dev.puri.benchmarks;

import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.HdrHistogram.Histogram;

/**
 * How long look-ups take while the table is filled from the topic as fast as it can. Broker, consumer and writer
 * want the processors too, so beside it stands a thread that looks at the clock and looks nothing up: it is
 * held up by the machine and the JVM alone.
 */
final class BesideRestore {
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
        Histogram lookUps = filling("look-ups", look -> look);
        Histogram clock = filling("looks at the clock", look -> table -> {});
        String name = "look-up beside a restore";
        return List.of(
                Figure.alone(name + " p99.9", "µs", micros(lookUps, 99.9)),
                new Figure(name + ", longest", "µs", micros(lookUps, 100), CLOCK, micros(clock, 100)));
    }

    /** A look-up of any row by either door, its key made already. */
    private Consumer<PackedTable> anyLookUp(Random random) {
        int number = random.nextInt(plan.rows());
        if (random.nextBoolean()) {
            Puri puri = Population.puri(number);
            return table -> table.byPuri(puri);
        }
        Handle handle = Population.handle(number);
        return table -> table.byHandle(handle);
    }

    /**
     * @param timed what is done of a look-up
     */
    private Histogram filling(String what, UnaryOperator<Consumer<PackedTable>> timed) throws InterruptedException {
        System.gc();
        Histogram nanos = Pace.histogram();
        PackedTable table = new PackedTable();
        Random random = new Random(plan.rows());
        AtomicBoolean over = new AtomicBoolean();
        try (TableClient client = OurTable.client(broker, table, "beside " + what)) {
            Thread thread = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    Consumer<PackedTable> act = timed.apply(anyLookUp(random));
                    long begun = System.nanoTime();
                    act.accept(table);
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
