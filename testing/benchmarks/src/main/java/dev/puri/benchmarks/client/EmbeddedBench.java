package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.LookUpKeys;
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
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * Measures look-ups of an embedded resolver in this process, one after the other. Each look-up is timed separately, so
 * a figure includes two readings of the clock. The time of two readings is reported as a figure.
 */
record EmbeddedBench(ClientBench bench) {
    private static final int KEYS = 1 << 18;
    private static final Duration FILL_TIMEOUT = Duration.ofMinutes(10);
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
            Rounds rounds = bench.measureRounds(bench.rounds, "ns", (round, recorder) -> {
                for (Map.Entry<String, List<Ref>> side : sides.entrySet()) {
                    recorder.recordPercentiles(side.getKey(), timeLookUps(resolver, side.getValue()), 1);
                }
                recorder.record(CLOCK, clockNanos());
            });
            for (String side : sides.keySet()) {
                rounds.add(side + " p50", "ns", side + " p50");
                rounds.add(side + " p99", "ns", side + " p99");
            }
            rounds.add(CLOCK, "ns", CLOCK);
        }
    }

    private static Histogram timeLookUps(EmbeddedResolver resolver, List<Ref> refs) {
        Histogram nanos = Timing.histogram();
        long foundCount = 0;
        for (Ref ref : refs) {
            long startNanos = System.nanoTime();
            Verdict verdict = resolver.resolve(ref, Duration.ZERO);
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
