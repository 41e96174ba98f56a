package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.benchmarks.serve.MeasuredResolver;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * Measures look-ups of a resolver client without a cache, one after the other by one thread. The resolver runs in a
 * separate process. The baseline is the JDK's HTTP client, which the resolver client uses. It sends the same bodies,
 * prepared before the clock starts, and does not parse the answers.
 */
record HttpBench(ClientBench bench, MeasuredResolver resolver) {
    private static final String BASELINE = "the JDK's HttpClient, same request, answer not parsed";
    private static final int BATCH = 100;
    private static final int HANDLES = 40;

    /** A batch takes about as long as this number of single look-ups. */
    private static final int LOOK_UPS_PER_BATCH = 10;

    void measure() throws Exception {
        Random random = new Random(bench.rows);
        int batches = Math.max(1, bench.lookUps / LOOK_UPS_PER_BATCH);
        Map<String, List<List<Ref>>> sides = new LinkedHashMap<>();
        sides.put("HTTP look-up", drawRequests(random, bench.lookUps, 1, 0));
        sides.put("HTTP look-up of %d mixed refs".formatted(BATCH), drawRequests(random, batches, BATCH, HANDLES));
        try (ResolverClient client =
                        ResolverClient.open(ResolverOptions.at(resolver.url()).build());
                HttpClient bare = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .build()) {
            Rounds rounds = bench.measureRounds(bench.rounds, "µs", (round, recorder) -> {
                for (Map.Entry<String, List<List<Ref>>> side : sides.entrySet()) {
                    String name = side.getKey();
                    Rounds.measureRotated(
                            round,
                            () -> recorder.recordPercentiles(name, timeClient(client, side.getValue()), 1e3),
                            () -> recorder.recordPercentiles("bare " + name, timeBare(bare, side.getValue()), 1e3));
                }
            });
            for (String side : sides.keySet()) {
                for (String name : List.of(side + " p50", side + " p99")) {
                    rounds.add(name, "µs", name, BASELINE, "bare " + name);
                }
            }
        }
    }

    /** Returns the references of each request; a request with more references than handles also has pURIs. */
    private List<List<Ref>> drawRequests(Random random, int requests, int refs, int handles) {
        List<List<Ref>> drawn = new ArrayList<>(requests);
        for (int n = 0; n < requests; n++) {
            List<Ref> request = new ArrayList<>(refs);
            for (int i = 0; i < refs; i++) {
                int number = random.nextInt(bench.rows);
                request.add(i < handles ? Ref.of(Population.handle(number)) : Ref.of(Population.puri(number)));
            }
            Collections.shuffle(request, random);
            drawn.add(request);
        }
        return drawn;
    }

    private static Histogram timeClient(ResolverClient client, List<List<Ref>> requests) {
        Histogram nanos = Timing.histogram();
        for (List<Ref> refs : requests) {
            long startNanos = System.nanoTime();
            List<Verdict> verdicts =
                    refs.size() == 1 ? List.of(client.resolve(refs.getFirst())) : client.resolveAll(refs);
            Timing.record(System.nanoTime() - startNanos, nanos);
            verdicts.forEach(CacheBench::requireFound);
        }
        return nanos;
    }

    private Histogram timeBare(HttpClient client, List<List<Ref>> refLists) throws Exception {
        List<HttpRequest> requests = new ArrayList<>(refLists.size());
        for (List<Ref> refs : refLists) {
            String body = refs.stream().map(Ref::text).collect(Collectors.joining("\",\"", "{\"refs\":[\"", "\"]}"));
            requests.add(HttpRequest.newBuilder(URI.create(resolver.url() + "/v1/resolve"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build());
        }
        Histogram nanos = Timing.histogram();
        for (HttpRequest request : requests) {
            long startNanos = System.nanoTime();
            HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            Timing.record(System.nanoTime() - startNanos, nanos);
            if (answer.statusCode() != 200) {
                throw new IllegalStateException("a look-up was answered with " + answer.statusCode());
            }
        }
        return nanos;
    }
}
