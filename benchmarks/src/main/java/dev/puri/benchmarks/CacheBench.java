package dev.puri.benchmarks;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures look-ups that the cache of a resolver client answers, by one thread, while the client follows the changes of
 * a resolver in a process of its own. The baseline is a Caffeine cache of the same verdicts by pURI. Percentiles have
 * two readings of the clock in each look-up; the mean is of a pass without them.
 */
final class CacheBench {
    private static final String BASELINE = "Caffeine's getIfPresent";

    /** Rows in the cache, if there are so many. */
    private static final int CACHED = 10_000;

    /** References made beforehand; each pass asks for all of them. */
    private static final int WANTED = 1 << 18;

    private final int rows;
    private final int rounds;
    private final Consumer<String> progress;

    /**
     * @param rows that the resolver has
     */
    CacheBench(int rows, int rounds, Consumer<String> progress) {
        this.rows = rows;
        this.rounds = rounds;
        this.progress = progress;
    }

    List<Figure> measure(MeasuredResolver resolver) throws Exception {
        // One address that is one process, so its answers are not behind its changes.
        ResolverOptions options = ResolverOptions.at("http://127.0.0.1:" + resolver.port())
                .cacheSize(2 * CACHED)
                .replicaLag(Duration.ZERO)
                .build();
        try (ResolverClient client = ResolverClient.open(options)) {
            Latency.await("the feed of changes", () -> client.cacheStatistics().feed() == CacheStatistics.Feed.CURRENT);
            Cache<Puri, Verdict> bare =
                    Caffeine.newBuilder().maximumSize(2 * CACHED).build();
            List<Ref> wanted = fill(client, bare);
            Rounds paces = new Rounds(rounds, progress)
                    .run(
                            "cache hits, ns",
                            (round, turn) -> Rounds.measureRotated(
                                    round,
                                    () -> measureHits(turn, wanted, client),
                                    () -> measure(
                                            turn,
                                            "bare",
                                            wanted,
                                            ref -> bare.getIfPresent(Objects.requireNonNull(ref.puri())))));
            List<Figure> figures = new ArrayList<>();
            for (String kind : List.of("p50", "p99", "mean")) {
                figures.add(paces.figure("cache hit " + kind, "ns", "hit " + kind, BASELINE, "bare " + kind));
            }
            return figures;
        }
    }

    /**
     * Puts rows into both caches, and returns references to them in random order.
     *
     * @throws IllegalStateException when the client's cache does not keep all rows
     */
    private List<Ref> fill(ResolverClient client, Cache<Puri, Verdict> bare) {
        List<Ref> refs = new ArrayList<>();
        for (int number = 0; number < Math.min(rows, CACHED); number++) {
            refs.add(Ref.of(Population.puri(number)));
        }
        // The cache does not keep an answer that a change may have overtaken.
        Latency.await("a client's cache of all " + refs.size() + " rows", () -> resolveAllByCache(client, refs));
        List<Verdict> verdicts = client.resolveAll(refs);
        for (int i = 0; i < refs.size(); i++) {
            bare.put(Objects.requireNonNull(refs.get(i).puri()), verdicts.get(i));
        }
        Random random = new Random(rows);
        List<Ref> wanted = new ArrayList<>(WANTED);
        for (int i = 0; i < WANTED; i++) {
            wanted.add(refs.get(random.nextInt(refs.size())));
        }
        return wanted;
    }

    /** Looks all references up, and returns whether each was a hit. */
    private static boolean resolveAllByCache(ResolverClient client, List<Ref> refs) {
        long hits = client.cacheStatistics().hits();
        client.resolveAll(refs);
        return client.cacheStatistics().hits() - hits == refs.size();
    }

    private static void measureHits(Rounds.Turn turn, List<Ref> wanted, ResolverClient client) {
        long hits = client.cacheStatistics().hits();
        measure(turn, "hit", wanted, client::resolve);
        long added = client.cacheStatistics().hits() - hits;
        if (added != 2L * wanted.size()) {
            throw new IllegalStateException("only " + added + " of " + 2 * wanted.size() + " look-ups were hits");
        }
    }

    private static void measure(
            Rounds.Turn turn, String side, List<Ref> wanted, Function<Ref, @Nullable Verdict> lookUp) {
        Histogram nanos = Pace.histogram();
        for (Ref ref : wanted) {
            long begun = System.nanoTime();
            @Nullable Verdict verdict = lookUp.apply(ref);
            Pace.record(System.nanoTime() - begun, nanos);
            requireFound(verdict);
        }
        turn.record(side + " p50", nanos.getValueAtPercentile(50));
        turn.record(side + " p99", nanos.getValueAtPercentile(99));
        long begun = System.nanoTime();
        for (Ref ref : wanted) {
            requireFound(lookUp.apply(ref));
        }
        turn.record(side + " mean", Pace.seconds(begun) * 1e9 / wanted.size());
    }

    private static void requireFound(@Nullable Verdict verdict) {
        if (!(verdict instanceof Verdict.Found)) {
            throw new IllegalStateException("not found: " + verdict);
        }
    }
}
