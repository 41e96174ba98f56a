package dev.puri.benchmarks.environment;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;

/** A PostgreSQL server in a temporary folder. {@link #close} deletes its data. */
public record PostgresServer(TemporaryFolder data, EmbeddedPostgres server) implements AutoCloseable {
    private static final Duration STARTUP = Duration.ofSeconds(60);

    /**
     * Starts a server.
     *
     * @param config settings of the server, such as {@code wal_level}
     */
    public static PostgresServer start(Map<String, String> config) throws IOException {
        TemporaryFolder data = TemporaryFolder.create();
        try {
            EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                    .setDataDirectory(data.path())
                    .setCleanDataDirectory(false)
                    .setPGStartupWait(STARTUP);
            config.forEach(builder::setServerConfig);
            return new PostgresServer(data, builder.start());
        } catch (IOException | RuntimeException e) {
            data.close();
            throw e;
        }
    }

    /** Returns connections to the database {@code postgres}. */
    public DataSource dataSource() {
        return server.getPostgresDatabase();
    }

    public int port() {
        return server.getPort();
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
