package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.Events;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.sql.Connection;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class OutboxIT {
    private static PostgresServer server;
    private final Events events = new Events("outbox-test");
    private final Outbox outbox = new Outbox(Dialect.POSTGRESQL);

    @BeforeAll
    static void start() throws Exception {
        server = new PostgresServer();
        server.execute(List.of(OutboxSchema.sql(Dialect.POSTGRESQL)));
        server.execute(List.of("CREATE SCHEMA apart", OutboxSchema.sql(Dialect.POSTGRESQL, "apart.outbox_2")));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private Event event(String puri) {
        return events.deleted(Puri.parse(puri)).build();
    }

    @Test
    void writesTheColumnsOfDebeziumsEventRouter() throws Exception {
        Event event = events.described(Puri.parse("music:tracks:1"))
                .attribute("title", "Naïve")
                .build();
        for (String table : List.of("puri_outbox", "apart.outbox_2")) {
            try (Connection connection = server.dataSource().getConnection()) {
                connection.setAutoCommit(false);
                new Outbox(Dialect.POSTGRESQL, table, () -> null).add(connection, event);
                try (ResultSet row = connection
                        .createStatement()
                        .executeQuery("SELECT id, aggregatetype, aggregateid, type, seq, payload FROM " + table)) {
                    assertThat(row.next()).isTrue();
                    assertThat(row.getObject(1)).isEqualTo(event.eventId());
                    assertThat(row.getString(2)).isEqualTo("music:tracks");
                    assertThat(row.getString(3)).isEqualTo("music:tracks:1");
                    assertThat(row.getString(4)).isEqualTo("Described");
                    OutboxRow read = new OutboxRow(
                            row.getLong(5), event.eventId(), "music:tracks:1", row.getBytes(6), null, null);
                    assertThat(read.event()).isEqualTo(event);
                }
                connection.rollback();
            }
        }
    }

    @Test
    void refusesAConnectionInAutoCommitMode() throws Exception {
        try (Connection connection = server.dataSource().getConnection()) {
            assertThatThrownBy(() -> outbox.add(connection, event("music:tracks:1")))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
    }

    @Test
    void refusesAnEventBeyondItsBoundBeforeTheDatabaseSeesIt() throws Exception {
        Event large = events.described(Puri.parse("music:tracks:1"))
                .attribute("title", "x".repeat(Outbox.MAX_PAYLOAD_BYTES))
                .build();
        try (Connection connection = server.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> outbox.add(connection, large))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("music:tracks:1");
        }
    }

    @Test
    void anotherTransactionOfThePuriWaitsForTheFirstToEnd() throws Exception {
        try (Connection first = server.dataSource().getConnection();
                Connection second = server.dataSource().getConnection();
                Connection observer = server.dataSource().getConnection()) {
            first.setAutoCommit(false);
            second.setAutoCommit(false);
            outbox.add(first, event("music:tracks:1"));
            CompletableFuture<Void> added = CompletableFuture.runAsync(() -> {
                try {
                    outbox.addAll(second, List.of(event("music:tracks:2"), event("music:tracks:1")));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                try (ResultSet waiting = observer.createStatement()
                        .executeQuery("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")) {
                    return waiting.next();
                }
            });
            assertThat(added).isNotDone();
            first.rollback();
            added.get();
            second.rollback();
        }
    }

    @Test
    void aTableHasOneRelayHoweverItIsNamed() throws Exception {
        OutboxTables unqualified = new OutboxTables(Dialect.POSTGRESQL, "puri_outbox");
        OutboxTables qualified = new OutboxTables(Dialect.POSTGRESQL, "public.puri_outbox");
        try (Connection first = server.dataSource().getConnection();
                Connection second = server.dataSource().getConnection()) {
            assertThat(unqualified.tryLead(first)).isTrue();
            assertThat(qualified.tryLead(second)).isFalse();
            qualified.resign(first);
            assertThat(qualified.tryLead(second)).isTrue();
        }
    }

    @Test
    void aLeadingSessionEndsSoonAfterItsHost() throws Exception {
        OutboxTables tables = new OutboxTables(Dialect.POSTGRESQL, "apart.outbox_2");
        try (Connection connection = server.dataSource().getConnection()) {
            String before = keepAlive(connection);
            assertThat(tables.tryLead(connection)).isTrue();
            assertThat(keepAlive(connection)).isEqualTo("60");
            tables.resign(connection);
            assertThat(keepAlive(connection)).isEqualTo(before).isNotEqualTo("60");
        }
    }

    private static String keepAlive(Connection connection) throws Exception {
        try (ResultSet shown = connection.createStatement().executeQuery("SHOW tcp_keepalives_idle")) {
            shown.next();
            return shown.getString(1);
        }
    }

    @Test
    void tablesOfTheSameNameInTwoSchemasHaveARelayEach() throws Exception {
        server.execute(List.of(
                "CREATE SCHEMA east",
                "CREATE SCHEMA west",
                OutboxSchema.sql(Dialect.POSTGRESQL, "east.events_out"),
                OutboxSchema.sql(Dialect.POSTGRESQL, "west.events_out")));
        OutboxTables tables = new OutboxTables(Dialect.POSTGRESQL, "events_out");
        try (Connection east = server.dataSource().getConnection();
                Connection west = server.dataSource().getConnection()) {
            east.createStatement().execute("SET search_path = east");
            west.createStatement().execute("SET search_path = west");
            assertThat(tables.tryLead(east)).isTrue();
            assertThat(tables.tryLead(west)).isTrue();
        }
    }

    @Test
    void writersOfATableLockThePuriHoweverTheTableIsNamed() throws Exception {
        Outbox qualified = new Outbox(Dialect.POSTGRESQL, "public.puri_outbox", () -> null);
        try (Connection first = server.dataSource().getConnection();
                Connection second = server.dataSource().getConnection()) {
            first.setAutoCommit(false);
            second.setAutoCommit(false);
            outbox.add(first, event("music:tracks:1"));
            second.createStatement().execute("SET LOCAL lock_timeout = '1ms'");
            assertThatThrownBy(() -> qualified.add(second, event("music:tracks:1")))
                    .hasMessageContaining("lock timeout");
            first.rollback();
            second.rollback();
        }
    }

    @Test
    void locksAllPurisOfABatchThatTheDriverFetchesInParts() throws Exception {
        List<Event> batch = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            batch.add(event("music:tracks:" + i));
        }
        try (Connection connection = TestDatabase.dataSource(
                        Dialect.POSTGRESQL, server.jdbcUrl() + "&defaultRowFetchSize=3")
                .getConnection()) {
            connection.setAutoCommit(false);
            outbox.addAll(connection, batch);
            try (ResultSet locks = connection
                    .createStatement()
                    .executeQuery("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                            + " AND pid = pg_backend_pid()")) {
                locks.next();
                assertThat(locks.getInt(1)).isEqualTo(20);
            }
            connection.rollback();
        }
    }

    @Test
    void takesABatchLargerThanAStatementHasColumns() throws Exception {
        List<Event> batch = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            batch.add(event("music:tracks:" + i));
        }
        try (Connection connection = server.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            outbox.addAll(connection, batch);
            try (ResultSet count = connection.createStatement().executeQuery("SELECT COUNT(*) FROM puri_outbox")) {
                count.next();
                assertThat(count.getInt(1)).isEqualTo(2000);
            }
            connection.rollback();
        }
    }
}
