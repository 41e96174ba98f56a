package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.Events;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.sql.Connection;
import java.sql.ResultSet;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

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

    @Test
    void aTableHasOneRelayHoweverItIsNamed() throws Exception {
        OutboxTables unqualified = new OutboxTables(Dialect.MARIADB, "puri_outbox");
        OutboxTables qualified = new OutboxTables(Dialect.MARIADB, "service.puri_outbox");
        try (Connection first = server.dataSource().getConnection();
                Connection second = server.dataSource().getConnection()) {
            second.createStatement().execute("USE mysql");
            assertThat(unqualified.tryLead(first)).isTrue();
            assertThat(qualified.tryLead(second)).isFalse();
            assertThat(unqualified.tryLead(second)).as("another schema").isTrue();
        }
    }

    /** A session that the driver reopened by itself. */
    @Test
    void aSessionWithoutTheLockDoesNotLead() throws Exception {
        OutboxTables tables = new OutboxTables(Dialect.MARIADB, "of_a_session");
        try (Connection first = server.dataSource().getConnection();
                Connection second = server.dataSource().getConnection()) {
            assertThat(tables.tryLead(first)).isTrue();
            tables.requireLock(first);
            assertThatThrownBy(() -> tables.requireLock(second)).hasMessageContaining("has lost the lock");
            tables.resign(first);
            assertThatThrownBy(() -> tables.requireLock(first)).hasMessageContaining("has lost the lock");
            assertThat(tables.tryLead(second)).as("at once").isTrue();
        }
    }

    @Test
    void aRelayOnAReplicaDoesNotLead() throws Exception {
        OutboxTables tables = new OutboxTables(Dialect.MARIADB, "of_a_replica");
        try (Connection connection = server.dataSource().getConnection()) {
            server.execute(List.of("SET GLOBAL read_only = ON"));
            try {
                assertThat(tables.tryLead(connection)).isFalse();
            } finally {
                server.execute(List.of("SET GLOBAL read_only = OFF"));
            }
            assertThat(tables.tryLead(connection)).isTrue();
        }
    }

    @Test
    void aLeadingSessionEndsSoonAfterItsHost() throws Exception {
        OutboxTables tables = new OutboxTables(Dialect.MARIADB, "of_a_host");
        try (Connection connection = server.dataSource().getConnection()) {
            assertThat(tables.tryLead(connection)).isTrue();
            assertThat(waitTimeout(connection)).isEqualTo(600);
            tables.resign(connection);
            assertThat(waitTimeout(connection)).isEqualTo(28_800);
        }
    }

    private static int waitTimeout(Connection connection) throws Exception {
        try (ResultSet shown = connection.createStatement().executeQuery("SELECT @@session.wait_timeout")) {
            shown.next();
            return shown.getInt(1);
        }
    }

    @Test
    void addRefusesALockTableThatHasLostRows() throws Exception {
        server.execute(OutboxSchema.statements(Dialect.MARIADB, "emptied"));
        server.execute(List.of("DELETE FROM emptied_lock"));
        Event event =
                new Events("outbox-test").deleted(Puri.parse("music:tracks:1")).build();
        Outbox outbox = new Outbox(Dialect.MARIADB, "emptied", () -> null);
        try (Connection connection = server.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> outbox.add(connection, event))
                    .hasMessageContaining("rows are missing in the table ");
            connection.rollback();
        }
    }

    @Test
    void aRelayWithoutADatabaseIsRefused() throws Exception {
        OutboxTables tables = new OutboxTables(Dialect.MARIADB, "puri_outbox");
        String url = server.jdbcUrl().replace("/service", "/");
        try (Connection connection =
                TestDatabase.dataSource(Dialect.MARIADB, url).getConnection()) {
            assertThatThrownBy(() -> tables.tryLead(connection))
                    .hasMessageContaining("the connection has no current database");
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
