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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from a write to the first answer of a resolver that has its identity, at a steady rate of
 * transactions with one event each. Identities are created with handles, which have to be claimed.
 *
 * <pre>
 *   outbox.add ── commit ── relay ── topology ── resolvable
 *   │             └─ commit → resolvable ────────┘
 *   └─ outbox.add → resolvable ──────────────────┘
 *
 *   publish ── acknowledged ── topology ── resolvable
 *   └─ publish → resolvable, the baseline ─┘
 * </pre>
 *
 * <p>The polling relay, the Debezium relay and the baseline take turns in being first. The clock of a write starts with
 * its call; calls later than planned are reported.
 */
final class CommitLatency {
    private static final String POLLING = "polling relay";
    private static final String DEBEZIUM = "Debezium relay";
    private static final String PUBLISHED = "published";
    private static final String BASELINE = "publish → resolvable, without an outbox";
    private static final String FROM_COMMIT = ", from commit";

    /** As many as sides, so that each is first, second and third once. */
    private static final int ROUNDS = 3;

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
        database.create(table(POLLING));
        database.create(table(DEBEZIUM));
        try (FreshBroker broker = FreshBroker.start()) {
            configuration.declare(broker, Creations.COLLECTION);
            try (RegistryStreams topology = RegistryStreams.start(configuration.of(broker));
                    Resolver resolver = Resolver.start(configuration.ofResolver(broker))) {
                Latency.await("the topology", topology::isReady);
                Latency.await("the resolver", resolver::isReady);
                int port = resolver.port();
                Rounds waits = new Rounds(ROUNDS, progress)
                        .run(
                                "resolvable after, ms",
                                (round, turn) -> Rounds.measureRotated(
                                        round,
                                        () -> published(broker, port, turn),
                                        () -> relayed(broker, port, POLLING, Feed.NONE, turn),
                                        () -> relayed(broker, port, DEBEZIUM, debezium(), turn)));
                return figures(waits);
            }
        }
    }

    private List<Figure> figures(Rounds waits) throws SQLException {
        String commits = ", synchronous_commit " + database.synchronousCommit();
        List<Figure> figures = new ArrayList<>();
        for (String relay : List.of(POLLING, DEBEZIUM)) {
            String conditions = " → resolvable at %,d events/s, %s%s".formatted(rate, relay, commits);
            for (String percentile : List.of(" p50", " p99")) {
                figures.add(waits.figure(
                        "outbox.add" + conditions + percentile,
                        "ms",
                        relay + percentile,
                        BASELINE,
                        PUBLISHED + percentile));
                figures.add(Figure.alone(
                        "commit" + conditions + percentile, "ms", waits.median(relay + FROM_COMMIT + percentile)));
            }
        }
        return figures;
    }

    private static String table(String relay) {
        return relay.equals(DEBEZIUM) ? "latency_debezium" : "latency_polling";
    }

    private Feed debezium() {
        return new DebeziumFeed(table(DEBEZIUM), database.connector());
    }

    private void published(FreshBroker broker, int port, Rounds.Turn turn) throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(Map.of(
                "bootstrap.servers",
                broker.bootstrapServers(),
                "schema.registry.url",
                configuration.schemaRegistry()))) {
            measure(port, PUBLISHED, turn, (event, seeker, counts) -> {
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

    private void relayed(FreshBroker broker, int port, String name, Feed feed, Rounds.Turn turn) throws Exception {
        String table = table(name);
        RelaySettings settings = OutboxBench.settings(database, broker, configuration.schemaRegistry(), table);
        Outbox outbox = new Outbox(Dialect.POSTGRESQL, table, () -> null);
        try (OutboxRelay relay = OutboxRelay.start(settings, feed);
                Connection connection = database.dataSource().getConnection()) {
            Latency.await(
                    "the " + name,
                    () -> OutboxBench.status(relay).leads()
                            && (feed == Feed.NONE || feed.state() instanceof Feed.State.Running));
            connection.setAutoCommit(false);
            measure(port, name, turn, (event, seeker, counts) -> {
                long since = System.nanoTime();
                outbox.add(connection, event);
                connection.commit();
                seeker.seek(event.puri(), since, counts);
            });
        }
    }

    /** Writes events at the rate, and records how long each took to be resolvable. */
    private void measure(int port, String name, Rounds.Turn turn, Writer writer) throws Exception {
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
            recordPercentiles(turn, name, found.waits());
            if (!name.equals(PUBLISHED)) {
                recordPercentiles(turn, name + FROM_COMMIT, seeker.waitsFromSeek());
            }
        }
    }

    private static void recordPercentiles(Rounds.Turn turn, String name, Histogram micros) {
        turn.record(name + " p50", micros.getValueAtPercentile(50) / 1e3);
        turn.record(name + " p99", micros.getValueAtPercentile(99) / 1e3);
    }
}
