package dev.puri.benchmarks;

import dev.puri.client.embedded.EmbeddedResolver;
import dev.puri.client.embedded.EmbeddedResolverOptions;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Measures look-ups of a resolver in this process, one at a time. Each is timed by itself, so a figure includes two
 * readings of the clock; their time is a figure of its own.
 */
final class EmbeddedBench {
    private static final double SKEW = 0.99;

    /** References made beforehand, and looked up one after the other. */
    private static final int WANTED = 1 << 18;

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private final int rows;
    private final int rounds;
    private final Consumer<String> progress;

    /**
     * One kind of reference.
     *
     * @param name added to the figures' names; empty for pURIs, each as likely as another
     */
    private record Side(String name, List<Ref> wanted) {}

    EmbeddedBench(int rows, int rounds, Consumer<String> progress) {
        this.rows = rows;
        this.rounds = rounds;
        this.progress = progress;
    }

    /**
     * @param broker that has the rows
     */
    List<Figure> measure(FreshBroker broker, SchemaServer schemas, Path folder) throws Exception {
        EmbeddedResolverOptions options = EmbeddedResolverOptions.at(broker.bootstrapServers(), schemas.url(), folder)
                .build();
        try (EmbeddedResolver resolver = EmbeddedResolver.open(options)) {
            resolver.awaitReady(PATIENCE);
            Random random = new Random(rows);
            Zipf zipf = new Zipf(rows, SKEW);
            Wanted even = Wanted.of(WANTED, () -> random.nextInt(rows));
            Wanted skewed = Wanted.of(WANTED, () -> zipf.next(random));
            List<Side> sides = List.of(
                    new Side("", refs(even, false)),
                    new Side(", skewed", refs(skewed, false)),
                    new Side(" by handle", refs(even, true)));
            Rounds paces = new Rounds(rounds, progress).run("embedded look-ups, ns", (round, turn) -> {
                for (Side side : sides) {
                    Histogram times = time(resolver, side.wanted());
                    turn.record("look-up" + side.name() + " p50", times.getValueAtPercentile(50));
                    turn.record("look-up" + side.name() + " p99", times.getValueAtPercentile(99));
                }
                turn.record("clock", clock());
            });
            return figures(sides, paces);
        }
    }

    private static List<Figure> figures(List<Side> sides, Rounds paces) {
        List<Figure> figures = new ArrayList<>();
        for (Side side : sides) {
            for (String percentile : List.of("p50", "p99")) {
                figures.add(Figure.alone(
                        "embedded look-up" + side.name() + " " + percentile,
                        "ns",
                        paces.median("look-up" + side.name() + " " + percentile)));
            }
        }
        figures.add(Figure.alone("of these, two readings of the clock p50", "ns", paces.median("clock")));
        return figures;
    }

    private static List<Ref> refs(Wanted wanted, boolean byHandle) {
        List<Ref> refs = new ArrayList<>(wanted.count());
        for (int i = 0; i < wanted.count(); i++) {
            refs.add(byHandle ? Ref.of(wanted.handles()[i]) : Ref.of(wanted.puris()[i]));
        }
        return refs;
    }

    private static Histogram time(EmbeddedResolver resolver, List<Ref> wanted) {
        Histogram times = Pace.histogram();
        long found = 0;
        for (Ref ref : wanted) {
            long begun = System.nanoTime();
            Verdict verdict = resolver.resolve(ref, Duration.ZERO);
            Pace.record(System.nanoTime() - begun, times);
            found += verdict instanceof Verdict.Found ? 1 : 0;
        }
        if (found != wanted.size()) {
            throw new IllegalStateException(wanted.size() - found + " of " + wanted.size() + " were not found");
        }
        return times;
    }

    private static double clock() {
        Histogram times = Pace.histogram();
        for (int i = 0; i < WANTED; i++) {
            long begun = System.nanoTime();
            Pace.record(System.nanoTime() - begun, times);
        }
        return times.getValueAtPercentile(50);
    }
}
