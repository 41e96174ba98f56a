package dev.puri.client.outbox;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresPollingIT extends RelayContract {
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
        return Feed.NONE;
    }

    @Override
    protected Class<?> child() {
        return RelayChild.class;
    }
}
