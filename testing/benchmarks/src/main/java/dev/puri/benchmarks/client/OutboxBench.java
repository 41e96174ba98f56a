package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.schemas.log.Topics;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Measures the throughput and the latency of an outbox in PostgreSQL.
 *
 * <pre>
 *   backlog   committed events ──▶ outbox ──▶ polling relay ──▶ events topic ──▶ a consumer that counts
 *
 *   latency   commits at a fixed rate ──▶ outbox ──▶ relay ──▶ topology ──▶ resolver ◀── GET by pURI until it is found
 * </pre>
 *
 * The database and the schema registry run in separate processes, everything else in this process.
 */
record OutboxBench(ClientBench bench) {
    /** Number of events in a transaction of the backlog. */
    private static final int EVENTS_PER_TRANSACTION = 100;

    void measure() throws Exception {
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry();
                OutboxPostgres database = OutboxPostgres.start()) {
            ServerSettings settings = ServerSettings.of(registry);
            String name = "outbox, backlog of %,d events relayed".formatted(bench.backlog);
            Rounds rounds = bench.measureRounds(
                    bench.rounds,
                    "1/s",
                    (round, recorder) ->
                            recorder.record(name, relayedPerSecond(database, settings, "backlog_" + round)));
            rounds.add(name, "1/s", name);
            new CommitLatency(bench, database, settings).measure();
        }
    }

    private double relayedPerSecond(OutboxPostgres database, ServerSettings settings, String table) throws Exception {
        try (FreshBroker broker = new FreshBroker()) {
            database.create(table);
            fill(database, table);
            try (RateReader reader = new RateReader(broker, Topics.EVENTS);
                    OutboxRelay relay = OutboxRelay.start(database.relaySettings(table, settings.client(broker)))) {
                return reader.read(
                                bench.backlog,
                                () -> OutboxPostgres.status(relay).problem() == null)
                        .perSecond();
            }
        }
    }

    private void fill(OutboxPostgres database, String table) throws SQLException {
        Outbox outbox = new Outbox(Dialect.POSTGRESQL, table, () -> null);
        Creations creations = new Creations();
        try (Connection connection = database.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            for (int added = 0; added < bench.backlog; added += EVENTS_PER_TRANSACTION) {
                outbox.addAll(connection, creations.next(Math.min(EVENTS_PER_TRANSACTION, bench.backlog - added)));
                connection.commit();
            }
        }
    }
}
