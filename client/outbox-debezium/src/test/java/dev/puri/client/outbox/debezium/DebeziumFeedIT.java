package dev.puri.client.outbox.debezium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.OutboxSchema;
import dev.puri.client.outbox.PostgresServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DebeziumFeedIT {
    private static final String INSERT = "INSERT INTO puri_outbox (id, aggregatetype, aggregateid, type, payload,"
            + " created_ms) VALUES ('01890a5d-ac96-774b-bcce-b302099a8057', 'a:b', 'a:b:c', 'Moved', '', 1)";

    private final List<Long> reported = new CopyOnWriteArrayList<>();
    private PostgresServer server;
    private DebeziumFeed feed;

    private Connection start(String walLevel) throws SQLException {
        server = new PostgresServer(walLevel);
        server.execute(List.of(OutboxSchema.sql(Dialect.POSTGRESQL)));
        feed = feed("postgres");
        return server.dataSource().getConnection();
    }

    private DebeziumFeed feed(String user) {
        return new DebeziumFeed(
                "puri_outbox",
                Map.of(
                        "database.hostname", "localhost",
                        "database.port", Integer.toString(server.port()),
                        "database.dbname", "postgres",
                        "database.user", user,
                        "database.password", ""));
    }

    @AfterEach
    void stop() {
        feed.stop();
        server.close();
    }

    private static void until(ThrowingRunnable holds) {
        await().atMost(Duration.ofSeconds(90)).untilAsserted(holds);
    }

    private int slots() throws SQLException {
        try (Connection connection = server.dataSource().getConnection();
                ResultSet count =
                        connection.createStatement().executeQuery("SELECT COUNT(*) FROM pg_replication_slots")) {
            count.next();
            return count.getInt(1);
        }
    }

    @Test
    void reportsExistingAndNewRows() throws Exception {
        try (Connection connection = start("logical")) {
            server.execute(List.of(INSERT, INSERT));
            feed.start(connection, reported::addAll);
            until(() -> assertThat(reported).containsExactly(1L, 2L));
            assertThat(feed.state()).isInstanceOf(Feed.State.Running.class);
            server.execute(List.of(INSERT, "DELETE FROM puri_outbox"));
            until(() -> assertThat(reported).containsExactly(1L, 2L, 3L));
        }
    }

    @Test
    void tablesOfTheSameNameInTwoSchemasHaveASlotAndAPublicationEach() throws Exception {
        try (Connection connection = start("logical")) {
            server.execute(List.of("CREATE SCHEMA apart", OutboxSchema.sql(Dialect.POSTGRESQL, "apart.puri_outbox")));
            OutboxReplication replication = OutboxReplication.of(connection, "puri_outbox");
            OutboxReplication apart = OutboxReplication.of(connection, "apart.puri_outbox");
            assertThat(replication).isEqualTo(OutboxReplication.of(connection, "public.puri_outbox"));
            assertThat(apart.slot()).isNotEqualTo(replication.slot());
            assertThat(apart.publication()).isNotEqualTo(replication.publication());
        }
    }

    @Test
    void leavesNoSlotBehind() throws Exception {
        try (Connection connection = start("logical")) {
            feed.start(connection, reported::addAll);
            until(() -> assertThat(feed.state()).isInstanceOf(Feed.State.Running.class));
            assertThat(slots()).isEqualTo(1);
            feed.stop();
            assertThat(slots()).isZero();
        }
    }

    /** Creates the slot as a killed relay leaves it. */
    private static void leaveSlot(Connection connection) throws SQLException {
        connection
                .createStatement()
                .execute("SELECT pg_create_logical_replication_slot('puri_outbox_' || oid || '_'"
                        + " || 'puri_outbox'::regclass::oid, 'pgoutput')"
                        + " FROM pg_database WHERE datname = current_database()");
    }

    @Test
    void replacesASlotThatAKilledRelayLeft() throws Exception {
        try (Connection connection = start("logical")) {
            leaveSlot(connection);
            server.execute(List.of(INSERT));
            feed.start(connection, reported::addAll);
            until(() -> assertThat(reported).containsExactly(1L));
            assertThat(slots()).isEqualTo(1);
        }
    }

    /** The connector's user has the attribute REPLICATION, and the relay's user owns the table. */
    @Test
    void replacesASlotIfTheConnectorHasAUserOfItsOwn() throws Exception {
        try (Connection owner = start("logical")) {
            server.execute(List.of(
                    "CREATE ROLE application LOGIN",
                    "CREATE ROLE connector LOGIN REPLICATION",
                    "GRANT CREATE ON DATABASE postgres TO application",
                    "ALTER TABLE puri_outbox OWNER TO application",
                    "GRANT SELECT ON puri_outbox TO connector"));
            leaveSlot(owner);
            owner.createStatement().execute("SET ROLE application");
            server.execute(List.of(INSERT));
            feed = feed("connector");
            feed.start(owner, reported::addAll);
            until(() -> assertThat(reported).containsExactly(1L));
            assertThat(slots()).isEqualTo(1);
        }
    }

    @Test
    void aStopDuringTheStartEndsAtOnceAndLeavesNoSlot() throws Exception {
        try (Connection connection = start("logical");
                Connection writer = server.dataSource().getConnection()) {
            writer.setAutoCommit(false);
            writer.createStatement().execute(INSERT);
            feed.start(connection, reported::addAll);
            until(() -> assertThat(slots()).isEqualTo(1));
            long startedAt = System.nanoTime();
            feed.stop();
            assertThat(Duration.ofNanos(System.nanoTime() - startedAt)).isLessThan(Duration.ofSeconds(10));
            writer.commit();
            assertThat(slots()).isZero();
        }
    }

    /** Rows of an aborted wave would be published again. */
    @Test
    void aStopLetsTheSinkPublishItsRows() throws Exception {
        try (Connection connection = start("logical")) {
            server.execute(List.of(INSERT));
            CountDownLatch isPublishing = new CountDownLatch(1);
            feed.start(connection, seqs -> {
                isPublishing.countDown();
                // Longer than the second after which a closing engine interrupts its sink.
                Thread.sleep(3000);
                reported.addAll(seqs);
            });
            assertThat(isPublishing.await(90, TimeUnit.SECONDS)).isTrue();
            feed.stop();
            assertThat(reported).containsExactly(1L);
            assertThat(slots()).isZero();
        }
    }

    /** The relay polls until the feed runs. */
    @Test
    void isNotRunningWhileAnOlderTransactionHoldsUpItsSlot() throws Exception {
        try (Connection connection = start("logical");
                Connection writer = server.dataSource().getConnection()) {
            writer.setAutoCommit(false);
            writer.createStatement().execute(INSERT);
            feed.start(connection, reported::addAll);
            until(() -> assertThat(slots()).isEqualTo(1));
            assertThat(feed.state()).isInstanceOf(Feed.State.Starting.class);
            writer.commit();
            until(() -> assertThat(reported).containsExactly(1L));
        }
    }

    @Test
    void failsWithAReasonWhereTheServerHasNoLogicalReplication() throws Exception {
        try (Connection connection = start("replica")) {
            feed.start(connection, reported::addAll);
            assertThat(feed.state())
                    .isInstanceOfSatisfying(
                            Feed.State.Failed.class,
                            failed -> assertThat(failed.error()).hasMessageContaining("wal_level is replica"));
        }
    }

    @Test
    void startsAgainAfterItFailed() throws Exception {
        try (Connection connection = start("logical")) {
            feed.start(connection, reported::addAll);
            until(() -> assertThat(feed.state()).isInstanceOf(Feed.State.Running.class));
            // The slot is read from when the snapshot is through.
            until(() -> assertThat(connection
                            .createStatement()
                            .executeQuery("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                                    + " WHERE active_pid IS NOT NULL")
                            .next())
                    .isTrue());
            until(() -> assertThat(feed.state()).isInstanceOf(Feed.State.Failed.class));
            feed.stop();
            server.execute(List.of(INSERT));
            feed.start(connection, reported::addAll);
            until(() -> assertThat(reported).containsExactly(1L));
        }
    }
}
