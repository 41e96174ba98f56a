package dev.puri.client.outbox;

import static org.awaitility.Awaitility.await;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;

/** A real PostgreSQL. */
public final class PostgresServer implements TestDatabase {
    private final Path data;
    private final String walLevel;
    private final int port;
    private EmbeddedPostgres running;

    /** One with logical replication. */
    public PostgresServer() {
        this("logical");
    }

    /**
     * @param walLevel the setting {@code wal_level}
     */
    public PostgresServer(String walLevel) {
        this.walLevel = walLevel;
        try {
            data = Files.createTempDirectory("puri-postgres");
            running = start(0);
            port = running.getPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private EmbeddedPostgres start(int onPort) throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setPGStartupWait(Duration.ofSeconds(60))
                .setServerConfig("wal_level", walLevel)
                .setServerConfig("max_connections", "100");
        if (onPort != 0) {
            builder.setPort(onPort);
        }
        return builder.start();
    }

    public int port() {
        return port;
    }

    @Override
    public Dialect dialect() {
        return Dialect.POSTGRESQL;
    }

    @Override
    public String jdbcUrl() {
        return "jdbc:postgresql://localhost:" + port + "/postgres?user=postgres";
    }

    @Override
    public void restart() throws IOException {
        stop();
        running = start(port);
    }

    private void stop() throws IOException {
        running.close();
        // Stopping has a bound of its own, so the old server may still be ending.
        await().atMost(Duration.ofSeconds(60)).until(() -> Files.notExists(data.resolve("postmaster.pid")));
    }

    @Override
    public void close() {
        try {
            stop();
            try (Stream<Path> files = Files.walk(data)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
