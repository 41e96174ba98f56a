package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.BackgroundThread;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.HdrHistogram.Histogram;

/**
 * Measures look-ups while the table is filled from the topic as fast as it can. Broker, consumer and writer want the
 * processors too. The baseline is a thread that reads the clock and looks nothing up: only the machine and the JVM hold
 * it up.
 */
record LookUpsDuringRestore(TableBench bench, FreshBroker broker) {
    private static final String CLOCK = "the same thread, looking nothing up";

    void measure() {
        Histogram lookUps = fill("look-ups", lookUp -> lookUp);
        Histogram clock = fill("readings of the clock", lookUp -> table -> {});
        String name = "look-up beside a restore";
        bench.add(name + " p99.9", "µs", Timing.micros(lookUps, 99.9));
        bench.add(name + ", longest", "µs", Timing.micros(lookUps, 100), CLOCK, Timing.micros(clock, 100));
    }

    /** Returns a look-up of any row by name or handle, which is made already. */
    private Consumer<PackedTable> anyLookUp(Random random) {
        int number = random.nextInt(bench.rows);
        if (random.nextBoolean()) {
            Puri puri = Population.puri(number);
            return table -> table.byPuri(puri);
        }
        Handle handle = Population.handle(number);
        return table -> table.byHandle(handle);
    }

    /**
     * Fills a table.
     *
     * @param timed the part of a look-up whose time is measured
     */
    private Histogram fill(String what, UnaryOperator<Consumer<PackedTable>> timed) {
        System.gc();
        Histogram nanos = Timing.histogram();
        PackedTable table = new PackedTable();
        Random random = new Random(bench.rows);
        long startNanos = System.nanoTime();
        try (TableClient client = OurTable.client(broker, table, "beside " + what)) {
            try (BackgroundThread thread = new BackgroundThread(what, isClosing -> {
                while (!isClosing.getAsBoolean()) {
                    Consumer<PackedTable> act = timed.apply(anyLookUp(random));
                    long before = System.nanoTime();
                    act.accept(table);
                    Timing.record(System.nanoTime() - before, nanos);
                }
            })) {
                startNanos = System.nanoTime();
                client.start();
            }
            bench.progress("restored %,.0f rows a second beside %,d %s; %s"
                    .formatted(
                            bench.rows / Timing.seconds(startNanos), nanos.getTotalCount(), what, Timing.describe(nanos)));
            OurTable.requireRows(table, bench.rows);
        }
        return nanos;
    }
}
