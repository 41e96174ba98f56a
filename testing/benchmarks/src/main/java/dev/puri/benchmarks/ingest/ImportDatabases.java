package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.TemporaryFolder;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Three PostgreSQL servers with the rows that are imported, a third of them each. */
final class ImportDatabases implements AutoCloseable {
    /** Reads all rows of a server. */
    static final String QUERY = "select name, uuid, title from tracks order by id";

    private static final int SHARDS = 3;
    private static final Duration STARTUP = Duration.ofSeconds(60);

    private final TemporaryFolder folder = TemporaryFolder.create();
    private final List<EmbeddedPostgres> servers = new ArrayList<>();

    /**
     * Starts the servers and fills them.
     *
     * @param rows number of rows of all servers
     */
    ImportDatabases(int rows) throws IOException, SQLException {
        try {
            for (int shard = 0; shard < SHARDS; shard++) {
                servers.add(EmbeddedPostgres.builder()
                        .setDataDirectory(data(shard))
                        .setCleanDataDirectory(false)
                        .setPGStartupWait(STARTUP)
                        .start());
                fill(shard, rows / SHARDS + (shard < rows % SHARDS ? 1 : 0));
            }
        } catch (IOException | SQLException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private Path data(int shard) {
        return folder.path().resolve("shard-" + shard);
    }

    private void fill(int shard, int rows) throws SQLException {
        try (Connection connection = connect(shard);
                Statement statement = connection.createStatement()) {
            statement.execute("create table tracks (id int primary key, name text, uuid uuid, title text)");
            statement.execute("insert into tracks select n, 'track-" + shard + "-' || n, overlay(overlay(md5('" + shard
                    + "-' || n) placing '7' from 13) placing 'a' from 17)::uuid, 'Track number ' || n"
                    + " from generate_series(1, " + rows + ") n");
            statement.execute("analyze tracks");
        }
    }

    int count() {
        return SHARDS;
    }

    Connection connect(int shard) throws SQLException {
        return servers.get(shard).getPostgresDatabase().getConnection();
    }

    String url(int shard) {
        return "jdbc:postgresql://localhost:" + servers.get(shard).getPort() + "/postgres?user=postgres";
    }

    @Override
    public void close() throws IOException {
        for (EmbeddedPostgres server : servers) {
            server.close();
        }
        for (int shard = 0; shard < servers.size(); shard++) {
            // The stop command may return before a slow server has ended.
            Path pid = data(shard).resolve("postmaster.pid");
            Await.until("the end of PostgreSQL", STARTUP, () -> Files.notExists(pid));
        }
        folder.close();
    }
}
