package dev.puri.benchmarks.search;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.data.Vocabulary;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.load.FixedRate;
import dev.puri.benchmarks.load.Seeker;
import dev.puri.client.IdentityPublisher;
import dev.puri.registry.RegistryStreams;
import dev.puri.schemas.log.Event;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from the publication of an identity until a search over HTTP for a word of its title finds it, at a
 * steady rate. The identities have handles, which must be claimed.
 *
 * <p>The load is an open loop: the time of each event is fixed before the run, and the measured wait starts at this
 * time. {@link WaveSeeker} searches for the identities.
 */
record PublishedToSearchable(SearchBench bench) {
    void measure() throws Exception {
        System.gc();
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry();
                FreshBroker broker = new FreshBroker()) {
            ServerSettings settings = ServerSettings.of(registry);
            settings.declare(broker, Creations.collection(true));
            try (RegistryStreams topology = settings.startTopology(broker);
                    MeasuredIndexer indexer =
                            new MeasuredIndexer(broker.bootstrapServers(), registry.url(), broker.directory("index"));
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
                Vocabulary.text(3, random) + ' ' + WaveSeeker.word(identity),
                "description",
                Vocabulary.text(20, random)));
        try (Seeker seeker = WaveSeeker.start(port, 10 * bench.rate)) {
            FixedRate.Result sent =
                    FixedRate.run(bench.rate, Duration.ofSeconds(bench.freshSeconds), (intendedNanos, counts) -> {
                        Event event = creations.next(true);
                        String word = WaveSeeker.word(number.getAndIncrement());
                        seeker.seek(event.puri(), word, intendedNanos, counts);
                        var unused = publisher.publish(event).whenComplete((position, error) -> {
                            if (error != null) {
                                seeker.fail(error);
                            }
                        });
                    });
            seeker.awaitAll(sent.count());
            bench.progress("searchable: " + seeker.describe());
            return seeker.waits();
        }
    }
}
