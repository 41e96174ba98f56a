package com.example.music.local;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * An embedded PostgreSQL server with a database for each shard. The server ends when this process ends, or earlier by
 * {@link #close}.
 */
public final class LocalDatabases implements AutoCloseable {
    private static final List<String> SHARDS = List.of("br-1", "eu-1", "us-1");

    private final EmbeddedPostgres server;

    private LocalDatabases(EmbeddedPostgres server) {
        this.server = server;
    }

    /**
     * Starts the server on a free port.
     *
     * @param folder the folder for the server's data
     */
    public static LocalDatabases start(Path folder) throws IOException, SQLException {
        EmbeddedPostgres server = EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofSeconds(60))
                .setDataDirectory(folder.resolve("postgres"))
                .start();
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            for (String shard : SHARDS) {
                statement.execute("CREATE DATABASE \"" + shard + '"');
            }
        }
        return new LocalDatabases(server);
    }

    /** Returns the settings {@code music.shards} as arguments for the application. */
    public List<String> settings() {
        return SHARDS.stream()
                .flatMap(shard -> Stream.of(
                        "--music.shards." + shard + ".url=" + server.getJdbcUrl("postgres", shard),
                        "--music.shards." + shard + ".username=postgres",
                        "--music.shards." + shard + ".password=postgres"))
                .toList();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
