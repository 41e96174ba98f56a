package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.PostgresServer;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.load.FixedRate;
import dev.puri.benchmarks.load.Seeker;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.debezium.DebeziumFeed;
import dev.puri.registry.RegistryStreams;
import dev.puri.resolver.Resolver;
import dev.puri.schemas.log.Event;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Measures the time from the write of an event until a resolver finds the identity, at a steady rate of transactions
 * with one event each. The identities have handles, which must be claimed.
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
 * <p>Each round begins with another of the three sides: polling relay, Debezium relay and baseline. A wait starts with
 * the call that writes the event. The maximum delay of these calls is reported.
 */
record CommitLatency(ClientBench bench, PostgresServer database, ServerSettings settings, Creations creations) {
    private static final Duration STARTUP = Duration.ofSeconds(60);
    private static final String POLLING = "polling relay";
    private static final String DEBEZIUM = "Debezium relay";
    private static final String PUBLISHED = "published";
    private static final String BASELINE = "publish → resolvable, without an outbox";
    private static final String FROM_COMMIT = ", from commit";

    /** As many rounds as sides, so that each side is measured once as first, second and third. */
    private static final int ROUNDS = 3;

    /** Writes an event for the registry, with or without an outbox. */
    private interface Writer {
        /**
         * Writes an event, and lets the seeker find its identity.
         *
         * @param counts false if the event is part of the warm-up
         */
        void write(Event event, Seeker seeker, boolean counts) throws Exception;
    }

    void measure() throws Exception {
        OutboxBench.create(database, table(POLLING));
        OutboxBench.create(database, table(DEBEZIUM));
        try (FreshBroker broker = new FreshBroker()) {
            settings.declare(broker, Creations.collection(false));
            try (RegistryStreams topology = settings.startTopology(broker);
                    Resolver resolver = settings.startResolver(broker)) {
                int port = resolver.port();
                addFigures(bench.measureRounds(
                        ROUNDS,
                        "resolvable after, ms",
                        (round, recorder) -> Rounds.measureRotated(
                                round,
                                () -> measurePublisher(broker, port, recorder),
                                () -> measureRelay(broker, port, POLLING, Feed.NONE, recorder),
                                () -> measureRelay(broker, port, DEBEZIUM, debezium(), recorder))));
            }
        }
    }

    private void addFigures(Rounds waits) {
        for (String relay : List.of(POLLING, DEBEZIUM)) {
            String conditions = " → resolvable at %,d events/s, %s".formatted(bench.rate, relay);
            for (String percentile : List.of(" p50", " p99")) {
                String name = conditions + percentile;
                waits.add("outbox.add" + name, "ms", relay + percentile, BASELINE, PUBLISHED + percentile);
                waits.add("commit" + name, "ms", relay + FROM_COMMIT + percentile);
            }
        }
    }

    private static String table(String relay) {
        return relay.equals(DEBEZIUM) ? "latency_debezium" : "latency_polling";
    }

    private Feed debezium() {
        return new DebeziumFeed(
                table(DEBEZIUM),
                Map.of(
                        "database.hostname", "localhost",
                        "database.port", Integer.toString(database.port()),
                        "database.dbname", "postgres",
                        "database.user", "postgres",
                        "database.password", ""));
    }

    private void measurePublisher(FreshBroker broker, int port, Rounds.Recorder recorder) throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(settings.client(broker))) {
            measure(port, PUBLISHED, recorder, (event, seeker, counts) -> {
                long writeNanos = System.nanoTime();
                var unused = publisher.publish(event).whenComplete((position, error) -> {
                    if (error == null) {
                        seeker.seek(event.puri(), writeNanos, counts);
                    } else {
                        seeker.fail(error);
                    }
                });
            });
        }
    }

    private void measureRelay(FreshBroker broker, int port, String name, Feed feed, Rounds.Recorder recorder)
            throws Exception {
        String table = table(name);
        Outbox outbox = new Outbox(Dialect.POSTGRESQL, table, () -> null);
        try (OutboxRelay relay =
                        OutboxRelay.start(OutboxBench.relaySettings(database, table, settings.client(broker)), feed);
                Connection connection = database.dataSource().getConnection()) {
            Await.until(
                    "the " + name,
                    STARTUP,
                    () -> OutboxBench.status(relay).leads()
                            && (feed == Feed.NONE || feed.state() instanceof Feed.State.Running));
            connection.setAutoCommit(false);
            measure(port, name, recorder, (event, seeker, counts) -> {
                long writeNanos = System.nanoTime();
                outbox.add(connection, event);
                connection.commit();
                seeker.seek(event.puri(), writeNanos, counts);
            });
        }
    }

    /** Writes events at the rate, and records the time until each is resolvable. */
    private void measure(int port, String name, Rounds.Recorder recorder, Writer writer) throws Exception {
        try (Seeker seeker = Seeker.ofResolver(port, 10 * bench.rate)) {
            double maxDelayMillis = FixedRate.run(
                    bench.rate,
                    bench.seconds,
                    seeker,
                    (intendedNanos, counts) -> writer.write(creations.next(true), seeker, counts));
            bench.progress("%s: %s; written at most %.1f ms late".formatted(name, seeker.describe(), maxDelayMillis));
            recorder.recordPercentiles(name, seeker.waits(), 1e6);
            if (!name.equals(PUBLISHED)) {
                recorder.recordPercentiles(name + FROM_COMMIT, seeker.waitsFromSeek(), 1e6);
            }
        }
    }
}
