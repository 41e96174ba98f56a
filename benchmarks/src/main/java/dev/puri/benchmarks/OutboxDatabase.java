package dev.puri.benchmarks;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.OutboxSchema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/** A PostgreSQL with logical replication, whose data are removed when it closes. */
final class OutboxDatabase implements AutoCloseable {
    private static final Duration STARTUP = Duration.ofSeconds(60);
    private static final String USER = "postgres";

    private final Path data;
    private final EmbeddedPostgres server;

    private OutboxDatabase(Path data, EmbeddedPostgres server) {
        this.data = data;
        this.server = server;
    }

    static OutboxDatabase start() throws IOException {
        Path data = FreshBroker.newDirectory();
        try {
            EmbeddedPostgres server = EmbeddedPostgres.builder()
                    .setDataDirectory(data)
                    .setCleanDataDirectory(false)
                    .setPGStartupWait(STARTUP)
                    .setServerConfig("wal_level", "logical")
                    .start();
            return new OutboxDatabase(data, server);
        } catch (IOException | RuntimeException e) {
            FreshBroker.delete(data);
            throw e;
        }
    }

    DataSource dataSource() {
        return server.getPostgresDatabase();
    }

    /** Debezium's properties of the connection. */
    Map<String, String> connector() {
        return Map.of(
                "database.hostname", "localhost",
                "database.port", Integer.toString(server.getPort()),
                "database.dbname", "postgres",
                "database.user", USER,
                "database.password", "");
    }

    /** Returns whether a commit waits for the disk, as PostgreSQL names it, e.g. {@code off}. */
    String synchronousCommit() throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SHOW synchronous_commit")) {
            result.next();
            return result.getString(1);
        }
    }

    /** Makes an outbox. */
    void create(String table) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : OutboxSchema.statements(Dialect.POSTGRESQL, table)) {
                statement.execute(sql);
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        // The stop command gives up waiting before a slow server has ended.
        Latency.await("the end of PostgreSQL", () -> Files.notExists(data.resolve("postmaster.pid")));
        FreshBroker.delete(data);
    }
}
