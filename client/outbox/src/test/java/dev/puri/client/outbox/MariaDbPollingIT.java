package dev.puri.client.outbox;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Skipped where no MariaDB is installed, unless in CI. */
class MariaDbPollingIT extends RelayContract {
    private static MariaDbServer server;

    @BeforeAll
    static void start() throws Exception {
        server = MariaDbServer.start(Dialect.MARIADB);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    protected TestDatabase database() {
        return server;
    }

    @Override
    protected Feed feed(RelaySettings settings) {
        return Feed.NONE;
    }

    @Override
    protected Class<?> child() {
        return RelayChild.class;
    }
}
