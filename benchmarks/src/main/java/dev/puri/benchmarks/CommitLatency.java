package dev.puri.benchmarks;

import dev.puri.client.IdentityPublisher;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.debezium.DebeziumFeed;
import dev.puri.registry.RegistryStreams;
import dev.puri.resolver.Resolver;
import dev.puri.schemas.log.Event;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from the commit of a transaction to the first answer of a resolver that has its identity, at a
 * steady rate of transactions with one event each. The baseline is the time from {@code publish} of an
 * {@link IdentityPublisher} at the same rate. Identities are created with handles, which have to be claimed.
 *
 * <p>A wait counts from the return of the commit. Nothing that is measured holds the writer up, so no wait is missed;
 * commits later than planned are reported.
 */
final class CommitLatency {
    private static final String POLLING = "polling relay";
    private static final String DEBEZIUM = "Debezium relay";
    private static final String BASELINE = "publish → resolvable, without an outbox";

    private final OutboxDatabase database;
    private final Configuration configuration;
    private final int rate;
    private final Duration duration;
    private final Consumer<String> progress;
    private final Creations creations = new Creations();

    /** Hands an event over to the registry, with or without an outbox. */
    private interface Writer {
        /**
         * @param counts false for an event that only warms up
         */
        void write(Event event, Seeker seeker, boolean counts) throws Exception;
    }

    /**
     * @param rate transactions a second
     * @param duration of each measurement, after a third of it that does not count
     */
    CommitLatency(
            OutboxDatabase database, String schemaRegistry, int rate, Duration duration, Consumer<String> progress) {
        this.database = database;
        this.configuration = new Configuration(schemaRegistry, Optional.empty());
        this.rate = rate;
        this.duration = duration;
        this.progress = progress;
    }

    List<Figure> measure() throws Exception {
        System.gc();
        try (FreshBroker broker = FreshBroker.start()) {
            configuration.declare(broker, Creations.COLLECTION);
            try (RegistryStreams topology = RegistryStreams.start(configuration.of(broker));
                    Resolver resolver = Resolver.start(configuration.ofResolver(broker))) {
                Latency.await("the topology", topology::isReady);
                Latency.await("the resolver", resolver::isReady);
                // A JVM that has compiled nothing yet would flatter whatever comes later.
                published(broker, resolver.port(), "warm-up, published");
                Histogram published = published(broker, resolver.port(), "published");
                List<Figure> figures = new ArrayList<>();
                addFigures(figures, POLLING, relayed(broker, resolver.port(), POLLING), published);
                addFigures(figures, DEBEZIUM, relayed(broker, resolver.port(), DEBEZIUM), published);
                return figures;
            }
        }
    }

    private void addFigures(List<Figure> figures, String relay, Histogram ours, Histogram theirs) {
        for (int percentile : List.of(50, 99)) {
            figures.add(new Figure(
                    "commit → resolvable at %,d events/s, %s p%d".formatted(rate, relay, percentile),
                    "ms",
                    ours.getValueAtPercentile(percentile) / 1e3,
                    BASELINE,
                    theirs.getValueAtPercentile(percentile) / 1e3));
        }
    }

    private Histogram published(FreshBroker broker, int port, String name) throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(Map.of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "schema.registry.url",
                configuration.schemaRegistry()))) {
            return waits(port, name, (event, seeker, counts) -> {
                long since = System.nanoTime();
                var unused = publisher.publish(event).whenComplete((position, error) -> {
                    if (error == null) {
                        seeker.seek(event.puri(), since, counts);
                    } else {
                        seeker.fail(error);
                    }
                });
            });
        }
    }

    private Histogram relayed(FreshBroker broker, int port, String name) throws Exception {
        String table = name.equals(DEBEZIUM) ? "latency_debezium" : "latency_polling";
        database.create(table);
        RelaySettings settings = OutboxBench.settings(database, broker, configuration.schemaRegistry(), table);
        Feed feed = name.equals(DEBEZIUM) ? new DebeziumFeed(table, database.connector()) : Feed.NONE;
        Outbox outbox = new Outbox(Dialect.POSTGRESQL, table, () -> null);
        try (OutboxRelay relay = OutboxRelay.start(settings, feed);
                Connection connection = database.dataSource().getConnection()) {
            Latency.await(
                    "the " + name,
                    () -> OutboxBench.status(relay).leads()
                            && (feed == Feed.NONE || feed.state() instanceof Feed.State.Running));
            connection.setAutoCommit(false);
            return waits(port, name, (event, seeker, counts) -> {
                outbox.add(connection, event);
                connection.commit();
                seeker.seek(event.puri(), System.nanoTime(), counts);
            });
        }
    }

    /** Writes events at the rate, and returns the microseconds until each was resolvable. */
    private Histogram waits(int port, String name, Writer writer) throws Exception {
        long periodNanos = Duration.ofSeconds(1).toNanos() / rate;
        long warmUp = duration.toSeconds() * rate / 3;
        long count = warmUp + duration.toSeconds() * rate;
        long mostLateNanos = 0;
        long begun = System.nanoTime();
        try (Seeker seeker = new Seeker(port, 10 * rate)) {
            for (long i = 0; i < count; i++) {
                long intended = begun + i * periodNanos;
                Latency.sleepUntil(intended);
                writer.write(creations.next(true), seeker, i >= warmUp);
                mostLateNanos = Math.max(mostLateNanos, System.nanoTime() - intended);
            }
            Sightings.Found found = seeker.awaitAll(count);
            progress.accept(
                    "%s: %s ms; found late by the asking itself at most %s ms; written at most %.1f ms late; load average %s"
                            .formatted(
                                    name,
                                    Latency.percentiles(found.waits()),
                                    Latency.percentiles(found.overestimates()),
                                    mostLateNanos / 1e6,
                                    Machine.load()));
            return found.waits();
        }
    }
}
