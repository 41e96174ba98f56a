package dev.puri.benchmarks.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.data.Vocabulary;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.load.FixedRate;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.load.Seeker;
import dev.puri.client.IdentityPublisher;
import dev.puri.registry.RegistryStreams;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from the publication of an identity until a search over HTTP for a word of its title finds it, at a
 * steady rate. The identities have handles, which must be claimed.
 *
 * <p>The load is an open loop: the time of each event is fixed before the run, and the measured wait starts at this
 * time. The titles of 50 consecutive identities, a wave, have a common word. A {@link Seeker} sends one search for each
 * wave with a missing identity; one search for each identity would be too much load.
 */
record PublishedToSearchable(SearchBench bench) {
    /** Interval, and about the maximum delay before it is noticed that an identity is there. */
    private static final Duration INTERVAL = Duration.ofMillis(10);

    private static final int WAVE_SIZE = 50;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    void measure() throws Exception {
        System.gc();
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry();
                FreshBroker broker = new FreshBroker()) {
            ServerSettings settings = ServerSettings.of(registry);
            settings.declare(broker, Creations.collection(true));
            try (RegistryStreams topology = settings.startTopology(broker);
                    MeasuredIndexer indexer = new MeasuredIndexer(
                            broker.bootstrapServers(), registry.url(), broker.directory("index"), 0);
                    IdentityPublisher publisher = new IdentityPublisher(settings.client(broker))) {
                String name = "published → searchable at %,d events/s".formatted(bench.rate);
                bench.addPercentiles(name + ", %s", "s", waits(publisher, indexer.port()), 1e9, 50, 99);
            }
        }
    }

    private Histogram waits(IdentityPublisher publisher, int port) throws Exception {
        Random random = new Random(20261120);
        AtomicLong number = new AtomicLong();
        Creations creations = new Creations(identity -> Map.of(
                "title",
                Vocabulary.text(3, random) + ' ' + word(identity),
                "description",
                Vocabulary.text(20, random)));
        try (Seeker seeker = startSeeker(port, 10 * bench.rate)) {
            FixedRate.run(bench.rate, bench.freshSeconds, seeker, (intendedNanos, counts) -> {
                Event event = creations.next(true);
                String word = word(number.getAndIncrement());
                seeker.seek(event.puri(), word, intendedNanos, counts);
                var unused = publisher.publish(event).whenComplete((position, error) -> {
                    if (error != null) {
                        seeker.fail(error);
                    }
                });
            });
            bench.progress("searchable: " + seeker.describe());
            return seeker.waits();
        }
    }

    private static Seeker startSeeker(int port, int maxTargets) throws IOException {
        return new Seeker(port, INTERVAL, maxTargets, PublishedToSearchable::poll);
    }

    /** Returns the word that the title of the identity with this number must contain. */
    private static String word(long number) {
        return "wave" + number / WAVE_SIZE;
    }

    private static int poll(HttpSocket indexer, List<Seeker.Target> targets) throws IOException {
        Map<String, Map<String, Seeker.Target>> waves = new TreeMap<>();
        for (Seeker.Target target : targets) {
            waves.computeIfAbsent(target.query(), word -> new HashMap<>())
                    .put(target.puri().toString(), target);
        }
        for (Map.Entry<String, Map<String, Seeker.Target>> wave : waves.entrySet()) {
            search(indexer, wave.getKey(), wave.getValue());
        }
        return waves.size();
    }

    private static void search(HttpSocket indexer, String word, Map<String, Seeker.Target> missing) throws IOException {
        long requestNanos = System.nanoTime();
        String path = "/v1/search?q=" + word + "%20&limit=" + WAVE_SIZE + "&facets=false&highlight=false";
        HttpSocket.Response answer = indexer.ask(HttpSocket.get(path), 200);
        for (JsonNode result : MAPPER.readTree(answer.body()).get("results")) {
            Seeker.Target found = missing.remove(result.get("puri").textValue());
            if (found != null) {
                found.recordAnswer(true, requestNanos);
            }
        }
        missing.values().forEach(target -> target.recordAnswer(false, requestNanos));
    }
}
