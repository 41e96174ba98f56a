package dev.puri.benchmarks;

import dev.puri.client.IdentityMinter;
import dev.puri.client.IdentityPublisher;
import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.registry.RegistryStreams;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * How long after its publication an identity is found by a word of its title, at a steady rate, with a handle that
 * has to be claimed: publisher, topology, documents, index, HTTP.
 *
 * <p>Open loop: each event's time is fixed before anything is sent, and its wait counts from then on. Those of one
 * {@link WaveSeeker wave} have a word in common.
 */
final class Freshness {
    private static final Prefix PREFIX = new Prefix("trk");
    private static final Owner OWNER = new Owner("catalog");
    private static final Collection COLLECTION =
            new Collection("soundcloud", "tracks", PREFIX, Set.of(OWNER), true, true, "What is measured.", false);

    private final SearchBench.Plan plan;
    private final Consumer<String> progress;
    private final IdentityMinter minter = new IdentityMinter();
    private final Random random = new Random(20261120);

    Freshness(SearchBench.Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        System.gc();
        Path directory = FreshBroker.newDirectory();
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(directory, 0);
                FreshBroker broker = FreshBroker.start()) {
            Ingest.registerSchemas(registry.url());
            Configuration configuration = new Configuration(registry.url(), Optional.empty());
            configuration.declare(broker, COLLECTION);
            try (RegistryStreams topology = RegistryStreams.start(configuration.of(broker));
                    MeasuredIndexer indexer = MeasuredIndexer.start(
                            broker.bootstrapServers(), registry.url(), broker.directory("index"));
                    IdentityPublisher publisher = new IdentityPublisher(Map.of(
                            "bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", registry.url()))) {
                Latency.await("the topology", topology::isReady);
                Histogram micros = measure(publisher, indexer.port());
                String name = "published → searchable at %,d events/s".formatted(plan.rate());
                return List.of(figure(name + ", p50", micros, 50), figure(name + ", p99", micros, 99));
            }
        } finally {
            FreshBroker.delete(directory);
        }
    }

    private static Figure figure(String name, Histogram micros, double percentile) {
        return Figure.alone(name, "s", micros.getValueAtPercentile(percentile) / 1e6);
    }

    private Histogram measure(IdentityPublisher publisher, int port) throws Exception {
        long period = Duration.ofSeconds(1).toNanos() / plan.rate();
        long warmUp = plan.duration().toSeconds() * plan.rate() / 3;
        long count = warmUp + plan.duration().toSeconds() * plan.rate();
        long begun = System.nanoTime();
        try (WaveSeeker seeker = new WaveSeeker(port, 10 * plan.rate())) {
            for (long i = 0; i < count; i++) {
                long intended = begun + i * period;
                Latency.sleepUntil(intended);
                Event event = creation(i);
                seeker.seek(event.puri(), i, intended, i >= warmUp);
                publisher.publish(event).whenComplete((position, error) -> {
                    if (error != null) {
                        seeker.fail(error);
                    }
                });
            }
            Sightings.Found found = seeker.awaitAll(count);
            progress.accept(
                    "searchable: %s ms; found late by the asking itself at most %s ms; %,d searches; load average %s"
                            .formatted(
                                    Latency.percentiles(found.waits()),
                                    Latency.percentiles(found.overestimates()),
                                    found.questions(),
                                    Machine.load()));
            return found.waits();
        }
    }

    private Event creation(long number) {
        IdentityMinter.Minted ids = minter.mint(PREFIX);
        return new Event(
                minter.uuid(),
                Puri.parse("soundcloud:tracks:" + (1_000_000_000L + number)),
                Instant.now(),
                "catalog",
                null,
                null,
                new Change.Created(
                        ids.uuid(),
                        OWNER,
                        new Shard("br-" + number % 3),
                        ids.handle(),
                        Map.of(
                                "title",
                                Vocabulary.text(3, random) + ' ' + WaveSeeker.word(number),
                                "description",
                                Vocabulary.text(20, random))));
    }
}
