package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.BackgroundThread;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.HdrHistogram.Histogram;

/**
 * Measures look-ups during a restore of the table at full speed, when broker, consumer and writer also need the
 * processors. The baseline is a thread that only reads the clock, so only the machine and the JVM can delay it.
 */
record LookUpsDuringRestore(TableBench bench, FreshBroker broker) {
    private static final String CLOCK = "the same thread, looking nothing up";

    void measure() {
        Histogram lookUps = restore("look-ups", lookUp -> lookUp);
        Histogram clock = restore("readings of the clock", lookUp -> table -> {});
        String name = "look-up beside a restore";
        bench.add(name + " p99.9", "µs", Timing.micros(lookUps, 99.9));
        bench.add(name + ", longest", "µs", Timing.micros(lookUps, 100), CLOCK, Timing.micros(clock, 100));
    }

    /** Returns a look-up of a random row by pURI or handle, whose key is already created. */
    private Consumer<PackedTable> randomLookUp(Random random) {
        int number = random.nextInt(bench.rows);
        if (random.nextBoolean()) {
            Puri puri = Population.puri(number);
            return table -> table.byPuri(puri);
        }
        Handle handle = Population.handle(number);
        return table -> table.byHandle(handle);
    }

    /**
     * Restores a table, while a thread repeats an action.
     *
     * @param name of the action, for the line of progress
     * @param action returns the timed action for a look-up
     * @return the times of the action
     */
    private Histogram restore(String name, UnaryOperator<Consumer<PackedTable>> action) {
        System.gc();
        Histogram nanos = Timing.histogram();
        PackedTable table = new PackedTable();
        Random random = new Random(bench.rows);
        long startNanos = System.nanoTime();
        try (StreamsTableFeeder feeder = OurTable.feeder(broker, table, "beside " + name)) {
            try (BackgroundThread thread = new BackgroundThread(name, isClosing -> {
                while (!isClosing.getAsBoolean()) {
                    Consumer<PackedTable> timedAction = action.apply(randomLookUp(random));
                    long actionStartNanos = System.nanoTime();
                    timedAction.accept(table);
                    Timing.record(System.nanoTime() - actionStartNanos, nanos);
                }
            })) {
                startNanos = System.nanoTime();
                feeder.start();
            }
            bench.progress("restored %,.0f rows a second beside %,d %s; %s"
                    .formatted(
                            bench.rows / Timing.seconds(startNanos),
                            nanos.getTotalCount(),
                            name,
                            Timing.describe(nanos)));
            OurTable.requireRows(table, bench.rows);
        }
        return nanos;
    }
}
