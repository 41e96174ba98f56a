package dev.puri.client.outbox.debezium;

import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.PostgresServer;
import dev.puri.client.outbox.RelayChild;
import dev.puri.client.outbox.RelayContract;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.outbox.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.postgresql.core.BaseConnection;

class DebeziumRelayIT extends RelayContract {
    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = new PostgresServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    protected TestDatabase database() {
        return server;
    }

    @Override
    protected Feed feed(RelaySettings settings) {
        return Child.feed(settings);
    }

    @Override
    protected Class<?> child() {
        return Child.class;
    }

    /** The relay in a process of its own. */
    static final class Child {
        private Child() {}

        static Feed feed(RelaySettings settings) {
            try (Connection connection = settings.dataSource().getConnection()) {
                String port = connection
                                .unwrap(BaseConnection.class)
                                .getQueryExecutor()
                                .getHostSpec()
                                .getPort() + "";
                return new DebeziumFeed(
                        settings.table(),
                        Map.of(
                                "database.hostname", "localhost",
                                "database.port", port,
                                "database.dbname", "postgres",
                                "database.user", "postgres",
                                "database.password", ""));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        public static void main(String[] args) throws IOException {
            RelayChild.run(Child::feed);
        }
    }
}
