package dev.puri.benchmarks.client;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.benchmarks.serve.MeasuredResolver;
import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures look-ups that the cache of a resolver client answers. One thread looks up, while the client follows the
 * changes of a resolver in a separate process. The baseline is a Caffeine cache of the same verdicts by pURI. Each
 * look-up of the percentiles includes two readings of the clock; the mean is of a pass without these readings.
 */
record CacheBench(ClientBench bench, MeasuredResolver resolver) {
    private static final String BASELINE = "Caffeine's getIfPresent";
    private static final Duration STARTUP = Duration.ofSeconds(60);

    /** Maximum number of rows in the cache. */
    private static final int MAX_CACHED_ROWS = 10_000;

    /** Number of look-ups in each pass. */
    private static final int LOOK_UPS = 1 << 18;

    void measure() throws Exception {
        // The address is that of one process, so its answers are never older than its changes.
        ResolverOptions options = ResolverOptions.at(resolver.url())
                .cacheSize(2 * MAX_CACHED_ROWS)
                .replicaLag(Duration.ZERO)
                .build();
        try (ResolverClient client = ResolverClient.open(options)) {
            Await.until(
                    "the feed of changes",
                    STARTUP,
                    () -> client.cacheStatistics().feed() == CacheStatistics.Feed.CURRENT);
            Cache<Puri, Verdict> bare =
                    Caffeine.newBuilder().maximumSize(2 * MAX_CACHED_ROWS).build();
            List<Ref> refsToLookUp = fill(client, bare);
            Rounds rounds = bench.measureRounds(
                    bench.rounds,
                    "ns",
                    (round, recorder) -> Rounds.measureRotated(
                            round,
                            () -> measureHits(recorder, refsToLookUp, client),
                            () -> measure(
                                    recorder,
                                    "bare",
                                    refsToLookUp,
                                    ref -> bare.getIfPresent(Objects.requireNonNull(ref.puri())))));
            for (String kind : List.of(" p50", " p99", " mean")) {
                rounds.add("cache hit" + kind, "ns", "hit" + kind, BASELINE, "bare" + kind);
            }
        }
    }

    /**
     * Puts rows into both caches, and returns the references to look up, in random order.
     *
     * @throws IllegalStateException if the client's cache does not keep all rows
     */
    private List<Ref> fill(ResolverClient client, Cache<Puri, Verdict> bare) throws IOException {
        List<Ref> refs = new ArrayList<>();
        for (int number = 0; number < Math.min(bench.rows, MAX_CACHED_ROWS); number++) {
            refs.add(Ref.of(Population.puri(number)));
        }
        // Repeated, because the cache does not keep an answer that a change may have outdated.
        Await.until("a client's cache of all rows", STARTUP, () -> areAllHits(client, refs));
        List<Verdict> verdicts = client.resolveAll(refs);
        for (int i = 0; i < refs.size(); i++) {
            bare.put(Objects.requireNonNull(refs.get(i).puri()), verdicts.get(i));
        }
        Random random = new Random(bench.rows);
        return Stream.generate(() -> refs.get(random.nextInt(refs.size())))
                .limit(LOOK_UPS)
                .toList();
    }

    /** Looks up all references, and returns whether each look-up was a cache hit. */
    private static boolean areAllHits(ResolverClient client, List<Ref> refs) {
        long hits = client.cacheStatistics().hits();
        client.resolveAll(refs);
        return client.cacheStatistics().hits() - hits == refs.size();
    }

    private static void measureHits(Rounds.Recorder recorder, List<Ref> refsToLookUp, ResolverClient client) {
        long hits = client.cacheStatistics().hits();
        measure(recorder, "hit", refsToLookUp, client::resolve);
        long newHits = client.cacheStatistics().hits() - hits;
        if (newHits != 2L * refsToLookUp.size()) {
            throw new IllegalStateException(
                    "only " + newHits + " of " + 2 * refsToLookUp.size() + " look-ups were hits");
        }
    }

    private static void measure(
            Rounds.Recorder recorder, String side, List<Ref> refsToLookUp, Function<Ref, @Nullable Verdict> lookUp) {
        Histogram nanos = Timing.histogram();
        for (Ref ref : refsToLookUp) {
            long startNanos = System.nanoTime();
            @Nullable Verdict verdict = lookUp.apply(ref);
            Timing.record(System.nanoTime() - startNanos, nanos);
            requireFound(verdict);
        }
        recorder.recordPercentiles(side, nanos, 1);
        long startNanos = System.nanoTime();
        for (Ref ref : refsToLookUp) {
            requireFound(lookUp.apply(ref));
        }
        recorder.record(side + " mean", Timing.seconds(startNanos) * 1e9 / refsToLookUp.size());
    }

    static void requireFound(@Nullable Verdict verdict) {
        if (!(verdict instanceof Verdict.Found)) {
            throw new IllegalStateException("not found: " + verdict);
        }
    }
}
