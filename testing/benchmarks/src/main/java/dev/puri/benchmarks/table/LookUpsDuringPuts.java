package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.LookUpKeys;
import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.BackgroundThread;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.table.PackedTable;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/** Measures look-ups while another thread puts rows at a constant rate. */
record LookUpsDuringPuts(TableBench bench, PackedTable table) {
    private static final int PUTS_PER_SECOND = 50_000;
    private static final String NAME = "get by pURI beside 50 k puts/s";
    private static final String IDLE = "the same get, idle";

    void measure() throws Exception {
        Random random = new Random(bench.rows + 1L);
        Histogram nanos = Timing.histogram();
        Rounds rounds = bench.measureRounds(bench.rounds, "gets by pURI a second", (round, recorder) -> {
            // The sides alternate, because the first side fills the processor's caches for the second.
            boolean isIdleFirst = round % 2 == 0;
            if (isIdleFirst) {
                recorder.record(IDLE, perSecond(keys(random)));
            }
            LookUpKeys rateKeys = keys(random);
            LookUpKeys timedKeys = round > 0 ? keys(random) : LookUpKeys.NONE;
            try (BackgroundThread writer =
                    new BackgroundThread("puts", isClosing -> put(new Random(round), isClosing))) {
                recorder.record(NAME, perSecond(rateKeys));
                timeLookUps(timedKeys, nanos);
            }
            if (!isIdleFirst) {
                recorder.record(IDLE, perSecond(keys(random)));
            }
        });
        rounds.addForEachBaseline(NAME, "1/s", NAME, List.of(IDLE));
        bench.add(NAME + " p99.9", "µs", Timing.micros(nanos, 99.9));
        bench.add(NAME + ", longest", "µs", Timing.micros(nanos, 100));
    }

    /** Draws new keys for each pass, because rows that were looked up before are in the processor's caches. */
    private LookUpKeys keys(Random random) {
        return LookUpKeys.even(bench.gets, bench.rows, random);
    }

    private double perSecond(LookUpKeys keys) {
        return Timing.perSecond(keys.count(), i -> table.byPuri(keys.puris()[i]) != null);
    }

    private void timeLookUps(LookUpKeys keys, Histogram nanos) {
        for (int i = 0; i < keys.count(); i++) {
            long startNanos = System.nanoTime();
            table.byPuri(keys.puris()[i]);
            Timing.record(System.nanoTime() - startNanos, nanos);
        }
    }

    /** Puts rows at the constant rate, in bursts of a millisecond. */
    private void put(Random random, BooleanSupplier isClosing) {
        long startNanos = System.nanoTime();
        for (long put = 0; !isClosing.getAsBoolean(); put++) {
            int number = random.nextInt(bench.rows);
            table.put(Population.puri(number), Population.row(number, put));
            long dueNanos = startNanos + put * TimeUnit.SECONDS.toNanos(1) / PUTS_PER_SECOND;
            if (put % (PUTS_PER_SECOND / 1000) == 0 && dueNanos > System.nanoTime()) {
                LockSupport.parkNanos(dueNanos - System.nanoTime());
            }
        }
    }
}
