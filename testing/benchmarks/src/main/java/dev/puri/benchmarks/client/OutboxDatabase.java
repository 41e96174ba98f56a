package dev.puri.benchmarks.client;

import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.RelayStatus;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/** A PostgreSQL server with logical replication. {@link #close} deletes its data. */
final class OutboxDatabase implements AutoCloseable {
    private static final Duration STARTUP = Duration.ofSeconds(60);
    private static final String USER = "postgres";

    private final TemporaryFolder data;
    private final EmbeddedPostgres server;

    private OutboxDatabase(TemporaryFolder data, EmbeddedPostgres server) {
        this.data = data;
        this.server = server;
    }

    static OutboxDatabase start() throws IOException {
        TemporaryFolder data = TemporaryFolder.create();
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setDataDirectory(data.path())
                    .setCleanDataDirectory(false)
                    .setPGStartupWait(STARTUP)
                    .setServerConfig("wal_level", "logical")
                    // The library's default is off. Debezium would then read a commit up to 600 ms later.
                    .setServerConfig("synchronous_commit", "on")
                    .start();
            return new OutboxDatabase(data, server);
        } catch (IOException | RuntimeException e) {
            data.close();
            throw e;
        }
    }

    DataSource dataSource() {
        return server.getPostgresDatabase();
    }

    /** Returns the properties with which Debezium connects. */
    Map<String, String> connectorProperties() {
        return Map.of(
                "database.hostname", "localhost",
                "database.port", Integer.toString(server.getPort()),
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
        // The stop command may return before a slow server has ended.
        Path pid = data.path().resolve("postmaster.pid");
        Await.until("the end of PostgreSQL", STARTUP, () -> Files.notExists(pid));
        data.close();
    }
}
