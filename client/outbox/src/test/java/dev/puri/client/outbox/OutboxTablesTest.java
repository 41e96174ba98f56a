package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class OutboxTablesTest {
    private final FakeDatabase database = new FakeDatabase();
    private final OutboxTables tables = new OutboxTables(Dialect.POSTGRESQL, "puri_outbox");

    private static boolean isUnlock(String sql) {
        return sql.contains("pg_advisory_unlock");
    }

    @Test
    void releasesTheLockWhenTheSessionCannotBeSetUp() {
        database.rows = sql -> List.<Object[]>of(new Object[] {1});
        database.fails = sql -> sql.startsWith("SET ");
        assertThatThrownBy(() -> tables.tryLead(database.connection())).isInstanceOf(SQLException.class);
        assertThat(database.statements).anyMatch(OutboxTablesTest::isUnlock);
    }

    /** Some drivers and pools throw such exceptions for a closed connection. */
    @Test
    void releasesTheLockAfterAnyExceptionInTheSetUp() {
        database.rows = sql -> List.<Object[]>of(new Object[] {1});
        database.fails = sql -> {
            if (sql.startsWith("SET ")) {
                throw new IllegalStateException("injected");
            }
            return false;
        };
        assertThatThrownBy(() -> tables.tryLead(database.connection())).isInstanceOf(IllegalStateException.class);
        assertThat(database.statements).anyMatch(OutboxTablesTest::isUnlock);
    }

    /** MariaDB 12 has the texts OFF and ON in this variable, which are both false as a condition. */
    @Test
    void comparesTheReadOnlyVariableAsText() throws SQLException {
        database.rows = sql -> List.<Object[]>of(new Object[] {0});
        OutboxTables mariaDb = new OutboxTables(Dialect.MARIADB, "catalog.puri_outbox");
        assertThat(mariaDb.tryLead(database.connection())).isFalse();
        assertThat(database.statements)
                .singleElement(InstanceOfAssertFactories.STRING)
                .startsWith("SELECT IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), GET_LOCK(");
    }

    @Test
    void aFailedRollbackDoesNotHideTheFailureOfItsTransaction() {
        database.fails = sql -> sql.startsWith("DELETE ") || sql.equals("ROLLBACK");
        OutboxRow row = new OutboxRow(1, UUID.randomUUID(), "music:tracks:1", new byte[0], null, null);
        assertThatThrownBy(() -> tables.delete(database.connection(), List.of(row)))
                .isInstanceOf(SQLException.class)
                .hasMessageStartingWith("refused: DELETE");
    }

    /** A pool would keep the session and its lock, and no relay could lead. */
    @Test
    void aSessionThatCannotReleaseItsLockEnds() {
        database.rows = sql -> List.<Object[]>of(new Object[] {1});
        database.fails = OutboxTablesTest::isUnlock;
        tables.resign(database.connection());
        assertThat(database.isAborted).isTrue();
    }

    @Test
    void aSessionThatReleasesItsLockStaysOpen() {
        database.rows = sql -> List.<Object[]>of(new Object[] {1});
        tables.resign(database.connection());
        assertThat(database.statements).anyMatch(OutboxTablesTest::isUnlock);
        assertThat(database.isAborted).isFalse();
    }
}
