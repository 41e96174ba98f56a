package dev.puri.benchmarks;

import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * Measures look-ups of a resolver client without a cache, one after the other by one thread. The resolver has a process
 * of its own. The baseline is the JDK's client, on which ours is built: it sends the same bodies, made beforehand, and
 * does not read the JSON of the answers.
 */
final class HttpBench {
    private static final String BASELINE = "the JDK's HttpClient, same request, answer not parsed";

    /** References of a batch, and the handles among them. */
    private static final int BATCH = 100;

    private static final int HANDLES = 40;

    /** A batch takes about as long as ten single look-ups. */
    private static final int LOOK_UPS_OF_A_BATCH = 10;

    private final int rows;
    private final int lookUps;
    private final int rounds;
    private final Consumer<String> progress;

    /** One kind of request. */
    private record Side(String name, List<List<Ref>> wanted) {}

    /**
     * @param rows that the resolver has
     * @param lookUps single ones of each side in each round; a tenth as many batches
     */
    HttpBench(int rows, int lookUps, int rounds, Consumer<String> progress) {
        this.rows = rows;
        this.lookUps = lookUps;
        this.rounds = rounds;
        this.progress = progress;
    }

    List<Figure> measure(MeasuredResolver resolver) throws Exception {
        String url = "http://127.0.0.1:" + resolver.port();
        Random random = new Random(rows);
        List<Side> sides = List.of(
                new Side("HTTP look-up", wanted(random, lookUps, 1, 0)),
                new Side(
                        "HTTP look-up of %d mixed refs".formatted(BATCH),
                        wanted(random, Math.max(1, lookUps / LOOK_UPS_OF_A_BATCH), BATCH, HANDLES)));
        try (ResolverClient client = ResolverClient.open(ResolverOptions.at(url).build());
                HttpClient bare = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .build()) {
            Rounds paces = new Rounds(rounds, progress).run("look-ups over HTTP, µs", (round, turn) -> {
                for (Side side : sides) {
                    Rounds.measureRotated(
                            round,
                            () -> recordPercentiles(turn, side.name(), ofClient(client, side.wanted())),
                            () -> recordPercentiles(turn, "bare " + side.name(), ofBare(bare, url, side.wanted())));
                }
            });
            List<Figure> figures = new ArrayList<>();
            for (Side side : sides) {
                for (String percentile : List.of(" p50", " p99")) {
                    String name = side.name() + percentile;
                    figures.add(paces.figure(name, "µs", name, BASELINE, "bare " + name));
                }
            }
            return figures;
        }
    }

    private static void recordPercentiles(Rounds.Turn turn, String name, Histogram nanos) {
        turn.record(name + " p50", nanos.getValueAtPercentile(50) / 1e3);
        turn.record(name + " p99", nanos.getValueAtPercentile(99) / 1e3);
    }

    private List<List<Ref>> wanted(Random random, int requests, int refs, int handles) {
        List<List<Ref>> wanted = new ArrayList<>(requests);
        for (int request = 0; request < requests; request++) {
            List<Ref> some = new ArrayList<>(refs);
            for (int i = 0; i < refs; i++) {
                int number = random.nextInt(rows);
                some.add(i < handles ? Ref.of(Population.handle(number)) : Ref.of(Population.puri(number)));
            }
            Collections.shuffle(some, random);
            wanted.add(some);
        }
        return wanted;
    }

    private static Histogram ofClient(ResolverClient client, List<List<Ref>> wanted) {
        Histogram nanos = Pace.histogram();
        for (List<Ref> refs : wanted) {
            long begun = System.nanoTime();
            List<Verdict> verdicts =
                    refs.size() == 1 ? List.of(client.resolve(refs.getFirst())) : client.resolveAll(refs);
            Pace.record(System.nanoTime() - begun, nanos);
            for (Verdict verdict : verdicts) {
                if (!(verdict instanceof Verdict.Found)) {
                    throw new IllegalStateException("not found: " + verdict);
                }
            }
        }
        return nanos;
    }

    private static Histogram ofBare(HttpClient client, String url, List<List<Ref>> wanted) throws Exception {
        List<HttpRequest> requests = new ArrayList<>(wanted.size());
        for (List<Ref> refs : wanted) {
            String body = refs.stream().map(Ref::text).collect(Collectors.joining("\",\"", "{\"refs\":[\"", "\"]}"));
            requests.add(HttpRequest.newBuilder(URI.create(url + "/v1/resolve"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build());
        }
        Histogram nanos = Pace.histogram();
        for (HttpRequest request : requests) {
            long begun = System.nanoTime();
            HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            Pace.record(System.nanoTime() - begun, nanos);
            if (answer.statusCode() != 200) {
                throw new IllegalStateException("a look-up was answered with " + answer.statusCode());
            }
        }
        return nanos;
    }
}
