package dev.puri.benchmarks.client;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.PostgresServer;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.RelayStatus;
import dev.puri.schemas.log.Topics;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

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
                PostgresServer database = PostgresServer.start(Map.of(
                        "wal_level",
                        "logical",
                        // The library's default is off. Debezium would then read a commit up to 600 ms later.
                        "synchronous_commit",
                        "on"))) {
            ServerSettings settings = ServerSettings.of(registry);
            String name = "outbox, backlog of %,d events relayed".formatted(bench.backlog);
            Rounds rounds = bench.measureRounds(
                    bench.rounds,
                    "1/s",
                    (round, recorder) ->
                            recorder.record(name, relayedPerSecond(database, settings, "backlog_" + round)));
            rounds.add(name, "1/s", name);
            new CommitLatency(bench, database, settings, new Creations()).measure();
        }
    }

    private double relayedPerSecond(PostgresServer database, ServerSettings settings, String table) throws Exception {
        try (FreshBroker broker = new FreshBroker()) {
            create(database, table);
            fill(database, table);
            try (RateReader reader = new RateReader(broker, Topics.EVENTS);
                    OutboxRelay relay = OutboxRelay.start(relaySettings(database, table, settings.client(broker)))) {
                return reader.read(bench.backlog, () -> status(relay).problem() == null)
                        .perSecond();
            }
        }
    }

    private void fill(PostgresServer database, String table) throws SQLException {
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

    /** Creates the tables of an outbox. */
    static void create(PostgresServer database, String table) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : OutboxSchema.statements(Dialect.POSTGRESQL, table)) {
                statement.execute(sql);
            }
        }
    }

    static RelaySettings relaySettings(PostgresServer database, String table, Map<String, String> client) {
        return RelaySettings.of(database.dataSource(), Dialect.POSTGRESQL, client)
                .withTable(table);
    }

    static RelayStatus status(OutboxRelay relay) {
        try {
            return relay.status();
        } catch (SQLException e) {
            throw new IllegalStateException("the outbox cannot be read", e);
        }
    }
}
