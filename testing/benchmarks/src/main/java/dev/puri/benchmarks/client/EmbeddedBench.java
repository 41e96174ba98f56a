package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.LookUpKeys;
import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.SchemaServer;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.client.embedded.EmbeddedResolver;
import dev.puri.client.embedded.EmbeddedResolverOptions;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures look-ups of an embedded resolver in this process, one after the other. The baseline is a hash map that has
 * the verdicts of all references as objects, as a service could write it itself. Each look-up is timed separately, so a
 * figure includes two readings of the clock. The time of two readings is reported as a figure.
 */
record EmbeddedBench(ClientBench bench) {
    private static final int KEYS = 1 << 18;
    private static final Duration FILL_TIMEOUT = Duration.ofMinutes(10);
    private static final String BASELINE = "ConcurrentHashMap of all verdicts";
    private static final String CLOCK = "of these, two readings of the clock p50";

    /**
     * Measures and adds the figures.
     *
     * @param broker has the rows
     */
    void measure(FreshBroker broker, SchemaServer schemas) throws Exception {
        Path folder = broker.directory("embedded-resolver");
        EmbeddedResolverOptions options = EmbeddedResolverOptions.at(broker.bootstrapServers(), schemas.url(), folder)
                .build();
        try (EmbeddedResolver resolver = EmbeddedResolver.open(options)) {
            resolver.awaitReady(FILL_TIMEOUT);
            Random random = new Random(bench.rows);
            LookUpKeys even = LookUpKeys.even(KEYS, bench.rows, random);
            LookUpKeys skewed = LookUpKeys.skewed(KEYS, bench.rows, random);
            Map<String, List<Ref>> sides = new LinkedHashMap<>();
            sides.put("embedded look-up", Stream.of(even.puris()).map(Ref::of).toList());
            sides.put(
                    "embedded look-up, skewed",
                    Stream.of(skewed.puris()).map(Ref::of).toList());
            sides.put(
                    "embedded look-up by handle",
                    Stream.of(even.handles()).map(Ref::of).toList());
            Map<Ref, Verdict> verdicts = resolveAll(resolver);
            Rounds rounds = bench.measureRounds(bench.rounds, "ns", (round, recorder) -> {
                for (Map.Entry<String, List<Ref>> side : sides.entrySet()) {
                    String name = side.getKey();
                    List<Ref> refs = side.getValue();
                    Rounds.measureRotated(
                            round,
                            () -> recorder.recordPercentiles(
                                    name, timeLookUps(refs, ref -> resolver.resolve(ref, Duration.ZERO)), 1),
                            () -> recorder.recordPercentiles(baseline(name), timeLookUps(refs, verdicts::get), 1));
                }
                recorder.record(CLOCK, clockNanos());
            });
            for (String side : sides.keySet()) {
                for (String percentile : List.of(" p50", " p99")) {
                    rounds.add(side + percentile, "ns", side + percentile, BASELINE, baseline(side) + percentile);
                }
            }
            rounds.add(CLOCK, "ns", CLOCK);
        }
    }

    private static String baseline(String side) {
        return side + " in a hash map";
    }

    /** Returns the verdicts of the pURIs and handles of all rows. */
    private Map<Ref, Verdict> resolveAll(EmbeddedResolver resolver) {
        Map<Ref, Verdict> verdicts = new ConcurrentHashMap<>();
        for (int i = 0; i < bench.rows; i++) {
            for (Ref ref : List.of(Ref.of(Population.puri(i)), Ref.of(Population.handle(i)))) {
                verdicts.put(ref, resolver.resolve(ref, Duration.ZERO));
            }
        }
        return verdicts;
    }

    private static Histogram timeLookUps(List<Ref> refs, Function<Ref, @Nullable Verdict> lookUp) {
        Histogram nanos = Timing.histogram();
        long foundCount = 0;
        for (Ref ref : refs) {
            long startNanos = System.nanoTime();
            Verdict verdict = lookUp.apply(ref);
            Timing.record(System.nanoTime() - startNanos, nanos);
            foundCount += verdict instanceof Verdict.Found ? 1 : 0;
        }
        if (foundCount != refs.size()) {
            throw new IllegalStateException(refs.size() - foundCount + " of " + refs.size() + " were not found");
        }
        return nanos;
    }

    private static double clockNanos() {
        Histogram nanos = Timing.histogram();
        for (int i = 0; i < KEYS; i++) {
            long startNanos = System.nanoTime();
            Timing.record(System.nanoTime() - startNanos, nanos);
        }
        return nanos.getValueAtPercentile(50);
    }
}
