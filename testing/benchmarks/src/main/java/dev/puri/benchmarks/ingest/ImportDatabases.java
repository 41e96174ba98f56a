package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.PostgresServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Three PostgreSQL servers with the rows that are imported, a third of them each. */
final class ImportDatabases implements AutoCloseable {
    /** Reads all rows of a server. */
    static final String QUERY = "select name, uuid, title from tracks order by id";

    private static final int SHARDS = 3;

    private final List<PostgresServer> servers = new ArrayList<>();

    /**
     * Starts the servers and fills them.
     *
     * @param rows number of rows of all servers
     */
    ImportDatabases(int rows) throws IOException, SQLException {
        try {
            for (int shard = 0; shard < SHARDS; shard++) {
                servers.add(PostgresServer.start(Map.of()));
                fill(shard, rows / SHARDS + (shard < rows % SHARDS ? 1 : 0));
            }
        } catch (IOException | SQLException | RuntimeException e) {
            close();
            throw e;
        }
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
        return servers.get(shard).dataSource().getConnection();
    }

    String url(int shard) {
        return "jdbc:postgresql://localhost:" + servers.get(shard).port() + "/postgres?user=postgres";
    }

    @Override
    public void close() throws IOException {
        for (PostgresServer server : servers) {
            server.close();
        }
    }
}
