package dev.puri.benchmarks.client;

import dev.puri.benchmarks.environment.PostgresServer;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.RelayStatus;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import javax.sql.DataSource;

/** A PostgreSQL server with logical replication. {@link #close} deletes its data. */
record OutboxPostgres(PostgresServer server) implements AutoCloseable {
    private static final String USER = "postgres";

    static OutboxPostgres start() throws IOException {
        return new OutboxPostgres(PostgresServer.start(Map.of(
                "wal_level",
                "logical",
                // The library's default is off. Debezium would then read a commit up to 600 ms later.
                "synchronous_commit",
                "on")));
    }

    DataSource dataSource() {
        return server.dataSource();
    }

    /** Returns the properties with which Debezium connects. */
    Map<String, String> connectorProperties() {
        return Map.of(
                "database.hostname", "localhost",
                "database.port", Integer.toString(server.port()),
                "database.dbname", "postgres",
                "database.user", USER,
                "database.password", "");
    }

    /** Creates the tables of an outbox. */
    void create(String table) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : OutboxSchema.statements(Dialect.POSTGRESQL, table)) {
                statement.execute(sql);
            }
        }
    }

    /** Returns the settings of an outbox's relay. */
    RelaySettings relaySettings(String table, Map<String, String> client) {
        return RelaySettings.of(dataSource(), Dialect.POSTGRESQL, client).withTable(table);
    }

    static RelayStatus status(OutboxRelay relay) {
        try {
            return relay.status();
        } catch (SQLException e) {
            throw new IllegalStateException("the outbox cannot be read", e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
