package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The SQL statements of a relay. The tables are its only state: a row is in the outbox or among the blocked rows until it is
 * published.
 */
final class OutboxTables {
    /** Error texts are cut at this length. */
    private static final int MAX_ERROR_LENGTH = 1000;

    /** Rows beyond this number are not counted. */
    static final int MAX_COUNTED = 10_000;

    private static final int MAX_PURIS_SHOWN = 100;

    /** First key of the relays' advisory locks; keeps them apart from other locks of the database. */
    private static final int LOCK_SPACE = OutboxSchema.DEFAULT_TABLE.hashCode();

    /** Name of a table's lock, the same whether or not the configured name has the schema. */
    private static final String LOCK_NAME = "CONCAT('puri_outbox ', MD5(CONCAT(?, '.', ?)))";

    /** Bounds how long the session of a dead host keeps the lock: about two minutes. */
    private static final List<String> POSTGRESQL_LIMITS =
            List.of("SET tcp_keepalives_idle = 60", "SET tcp_keepalives_interval = 10", "SET tcp_keepalives_count = 6");

    /** The same in MySQL, in seconds; longer than a wave keeps the session idle. */
    private static final String MYSQL_LIMIT = "SET SESSION wait_timeout = 600";

    private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);

    private static final String COPIED =
            "seq, id, aggregatetype, aggregateid, type, payload, traceparent, tracestate, created_ms";

    private final Dialect dialect;
    private final String outbox;
    private final String blocked;

    OutboxTables(Dialect dialect, String table) {
        this.dialect = dialect;
        this.outbox = OutboxSchema.requireTable(table);
        this.blocked = table + "_blocked";
    }

    /**
     * Tries to take the lock of a table's relays, which lasts as long as the session. Returns false on a replica, whose locks are
     * independent of the primary's.
     */
    boolean tryLead(Connection connection) throws SQLException {
        String sql = dialect == Dialect.POSTGRESQL
                ? "SELECT CASE WHEN pg_is_in_recovery() THEN 0 WHEN pg_try_advisory_lock(?, " + Dialect.OID
                        + "::int) THEN 1 ELSE 0 END"
                : "SELECT IF(@@global.read_only, 0, GET_LOCK(" + LOCK_NAME + ", 0))";
        if (lock(connection, sql) != 1) {
            return false;
        }
        try {
            for (String limit : dialect == Dialect.POSTGRESQL ? POSTGRESQL_LIMITS : List.of(MYSQL_LIMIT)) {
                execute(connection, limit);
            }
        } catch (SQLException e) {
            resign(connection);
            throw e;
        }
        return true;
    }

    /**
     * Checks that this session still has the lock. A driver of MySQL or MariaDB may reconnect by itself, and the new session has no
     * lock.
     *
     * @throws SQLException if the session does not have it
     */
    void requireLead(Connection connection) throws SQLException {
        if (dialect != Dialect.POSTGRESQL
                && lock(connection, "SELECT IF(IS_USED_LOCK(" + LOCK_NAME + ") = CONNECTION_ID(), 1, 0)") != 1) {
            throw new SQLException("the session has lost the lock of the relay of " + outbox);
        }
    }

    /**
     * Releases the lock, because a pool may keep the session open. If that fails, it ends the session, which releases the lock too;
     * otherwise no relay could lead as long as the pool keeps the session.
     */
    void resign(Connection connection) {
        try {
            unlock(connection);
        } catch (SQLException | RuntimeException e) {
            LOG.warn(
                    "The session of the relay of {} ends, because it cannot give its lock back: {}",
                    outbox,
                    e.toString());
            try {
                connection.abort(Runnable::run);
            } catch (SQLException | RuntimeException abort) {
                LOG.warn("The session of the relay of {} may still have its lock: {}", outbox, abort.toString());
            }
        }
    }

    private void unlock(Connection connection) throws SQLException {
        String sql = dialect == Dialect.POSTGRESQL
                ? "SELECT CASE WHEN pg_advisory_unlock(?, " + Dialect.OID + "::int) THEN 1 ELSE 0 END"
                : "SELECT RELEASE_LOCK(" + LOCK_NAME + ")";
        lock(connection, sql);
        if (dialect == Dialect.POSTGRESQL) {
            for (String limit : POSTGRESQL_LIMITS) {
                execute(connection, limit.replaceFirst("SET (\\S+) = .*", "RESET $1"));
            }
        } else {
            execute(connection, "SET SESSION wait_timeout = DEFAULT");
        }
    }

    private int lock(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            if (dialect == Dialect.POSTGRESQL) {
                statement.setInt(1, LOCK_SPACE);
                statement.setString(2, outbox);
            } else {
                statement.setString(1, schema(connection));
                statement.setString(2, outbox.substring(outbox.indexOf('.') + 1));
            }
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getInt(1);
            }
        }
    }

    /** The schema of the tables in MySQL or MariaDB. */
    private String schema(Connection connection) throws SQLException {
        int point = outbox.indexOf('.');
        if (point >= 0) {
            return outbox.substring(0, point);
        }
        try (PreparedStatement select = connection.prepareStatement("SELECT DATABASE()");
                ResultSet result = select.executeQuery()) {
            result.next();
            String selected = result.getString(1);
            if (selected == null) {
                throw new SQLException(
                        "the connection has no database selected: name one in its URL, or a schema before"
                                + " the table " + outbox);
            }
            return selected;
        }
    }

    /** Reads the first rows, ordered by {@code seq}. */
    List<OutboxRow> first(Connection connection, int max) throws SQLException {
        return rows(connection, "SELECT " + OutboxRow.COLUMNS + " FROM " + outbox + " ORDER BY seq LIMIT " + max);
    }

    /** Reads those of these rows that still exist, ordered by {@code seq}. */
    List<OutboxRow> present(Connection connection, List<Long> seqs) throws SQLException {
        return rows(
                connection,
                "SELECT " + OutboxRow.COLUMNS + " FROM " + outbox + " WHERE seq IN (" + numbers(seqs)
                        + ") ORDER BY seq");
    }

    /** Reads blocked rows that are due: the first of each pURI whose time to retry has come. */
    List<OutboxRow> due(Connection connection, long nowMillis, int max) throws SQLException {
        return rows(
                connection,
                "SELECT " + OutboxRow.COLUMNS + " FROM " + blocked + " b WHERE retry_ms <= " + nowMillis
                        + " AND NOT EXISTS (SELECT 1 FROM " + blocked
                        + " e WHERE e.aggregateid = b.aggregateid AND e.seq < b.seq) ORDER BY retry_ms, seq LIMIT "
                        + max);
    }

    private static List<OutboxRow> rows(Connection connection, String sql) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql);
                ResultSet result = select.executeQuery()) {
            List<OutboxRow> rows = new ArrayList<>();
            while (result.next()) {
                rows.add(OutboxRow.read(result));
            }
            return rows;
        }
    }

    /** Returns the pURIs among those of these rows that have blocked rows. */
    Set<String> blockedAmong(Connection connection, List<OutboxRow> rows) throws SQLException {
        List<String> puris =
                rows.stream().map(OutboxRow::aggregateid).distinct().toList();
        String marks = puris.stream().map(puri -> "?").collect(Collectors.joining(", "));
        String sql = "SELECT DISTINCT aggregateid FROM " + blocked + " WHERE aggregateid IN (" + marks + ")";
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            for (int i = 0; i < puris.size(); i++) {
                select.setString(i + 1, puris.get(i));
            }
            try (ResultSet result = select.executeQuery()) {
                Set<String> found = new HashSet<>();
                while (result.next()) {
                    found.add(result.getString(1));
                }
                return found;
            }
        }
    }

    /** Removes published rows. */
    void delete(Connection connection, List<OutboxRow> rows) throws SQLException {
        connection.setAutoCommit(false);
        try {
            forEach(connection, "DELETE FROM " + outbox + " WHERE seq = ?", rows);
            connection.commit();
        } finally {
            // Rolls back what was not committed.
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    /** Deletes a blocked row that was published, and makes the next one of its pURI due. */
    void deleteBlocked(Connection connection, OutboxRow row) throws SQLException {
        execute(connection, "DELETE FROM " + blocked + " WHERE seq = " + row.seq());
        makeFirstDue(connection, row.aggregateid());
    }

    /**
     * Makes the first blocked row of a pURI due, unless it has a time to retry already. It runs in a transaction of its own after every
     * change of the pURI's blocked rows: an operator may skip a row while the leader moves another one behind it, and the later
     * of the two calls sees both changes.
     */
    private void makeFirstDue(Connection connection, String puri) throws SQLException {
        long first;
        try (PreparedStatement select =
                connection.prepareStatement("SELECT MIN(seq) FROM " + blocked + " WHERE aggregateid = ?")) {
            select.setString(1, puri);
            try (ResultSet result = select.executeQuery()) {
                result.next();
                first = result.getLong(1);
                if (result.wasNull()) {
                    return;
                }
            }
        }
        execute(connection, "UPDATE " + blocked + " SET retry_ms = 0 WHERE retry_ms IS NULL AND seq = " + first);
    }

    /**
     * Makes the first blocked row of each pURI due if it has no time to retry, because a relay or an operator's process ended between
     * two statements.
     */
    void makeAllFirstDue(Connection connection) throws SQLException {
        Set<String> puris = new HashSet<>();
        String sql = "SELECT aggregateid FROM " + blocked + " b WHERE retry_ms IS NULL AND NOT EXISTS (SELECT 1 FROM "
                + blocked + " e WHERE e.aggregateid = b.aggregateid AND e.seq < b.seq)";
        try (PreparedStatement select = connection.prepareStatement(sql);
                ResultSet result = select.executeQuery()) {
            while (result.next()) {
                puris.add(result.getString(1));
            }
        }
        for (String puri : puris) {
            makeFirstDue(connection, puri);
        }
    }

    /** Moves rows to the blocked rows of their pURIs, to be published in their order. */
    void moveToBlocked(Connection connection, List<OutboxRow> rows) throws SQLException {
        connection.setAutoCommit(false);
        try {
            copyToBlocked(connection, rows);
            forEach(connection, "DELETE FROM " + outbox + " WHERE seq = ?", rows);
            connection.commit();
        } finally {
            // Rolls back what was not committed.
            connection.rollback();
            connection.setAutoCommit(true);
        }
        for (String puri : rows.stream().map(OutboxRow::aggregateid).distinct().toList()) {
            makeFirstDue(connection, puri);
        }
    }

    private void copyToBlocked(Connection connection, List<OutboxRow> rows) throws SQLException {
        String sql = "INSERT INTO " + blocked + " (" + COPIED + ", attempts) SELECT " + COPIED + ", 0 FROM " + outbox
                + " WHERE seq = ?";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            for (OutboxRow row : rows) {
                insert.setLong(1, row.seq());
                // Not as a batch: MariaDB takes no INSERT ... SELECT in its bulk protocol (error 1295).
                insert.executeUpdate();
            }
        }
    }

    /** Records a failed attempt. */
    void noteFailure(Connection connection, OutboxRow row, String error, long retryMillis) throws SQLException {
        String sql =
                "UPDATE " + blocked + " SET error = ?, attempts = attempts + 1, retry_ms = ? WHERE seq = " + row.seq();
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setString(1, error.length() <= MAX_ERROR_LENGTH ? error : error.substring(0, MAX_ERROR_LENGTH));
            update.setLong(2, retryMillis);
            update.executeUpdate();
        }
    }

    /** Number of attempts to publish a blocked row; 0 if the row is gone. */
    int attempts(Connection connection, OutboxRow row) throws SQLException {
        try (PreparedStatement select =
                        connection.prepareStatement("SELECT attempts FROM " + blocked + " WHERE seq = " + row.seq());
                ResultSet result = select.executeQuery()) {
            return result.next() ? result.getInt(1) : 0;
        }
    }

    /** Makes a blocked row due; false if no row that blocks its pURI has this event id. */
    boolean retryNow(Connection connection, UUID id) throws SQLException {
        return change(connection, "UPDATE " + blocked + " SET retry_ms = 0 WHERE id = ? AND error IS NOT NULL", id);
    }

    /** Deletes a blocked row unpublished; false if no blocked row has this event id. */
    boolean skip(Connection connection, UUID id) throws SQLException {
        String puri;
        try (PreparedStatement select =
                connection.prepareStatement("SELECT aggregateid FROM " + blocked + " WHERE id = ?")) {
            dialect.setUuid(select, 1, id);
            try (ResultSet result = select.executeQuery()) {
                if (!result.next()) {
                    return false;
                }
                puri = result.getString(1);
            }
        }
        boolean isGone = change(connection, "DELETE FROM " + blocked + " WHERE id = ?", id);
        makeFirstDue(connection, puri);
        return isGone;
    }

    private boolean change(Connection connection, String sql, UUID id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            dialect.setUuid(statement, 1, id);
            return statement.executeUpdate() > 0;
        }
    }

    /** Reads the state of the outbox for a status. */
    RelayStatus status(Connection connection, boolean leads, @Nullable String problem) throws SQLException {
        long waiting = number(connection, counted(outbox));
        long blockedRows = number(connection, counted(blocked));
        long oldest = number(
                connection,
                "SELECT COALESCE(MIN(created_ms), 0) FROM (SELECT created_ms FROM " + outbox
                        + " ORDER BY seq LIMIT 1) o");
        long oldestBlocked = number(connection, "SELECT COALESCE(MIN(created_ms), 0) FROM " + blocked);
        List<RelayStatus.BlockedPuri> puris = new ArrayList<>();
        String sql = "SELECT aggregateid, id, seq, created_ms, attempts, error FROM " + blocked
                + " WHERE error IS NOT NULL ORDER BY seq LIMIT " + MAX_PURIS_SHOWN;
        try (PreparedStatement select = connection.prepareStatement(sql);
                ResultSet result = select.executeQuery()) {
            while (result.next()) {
                puris.add(new RelayStatus.BlockedPuri(
                        result.getString(1),
                        UUID.fromString(result.getString(2)),
                        result.getLong(3),
                        RelayStatus.time(result.getLong(4)),
                        result.getInt(5),
                        result.getString(6)));
            }
        }
        return new RelayStatus(
                leads,
                waiting,
                oldest == 0 ? null : RelayStatus.time(oldest),
                blockedRows,
                oldestBlocked == 0 ? null : RelayStatus.time(oldestBlocked),
                puris,
                problem);
    }

    private static String counted(String table) {
        return "SELECT COUNT(*) FROM (SELECT 1 FROM " + table + " LIMIT " + MAX_COUNTED + ") c";
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql);
                ResultSet result = select.executeQuery()) {
            result.next();
            return result.getLong(1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.executeUpdate();
        }
    }

    /**
     * Runs a statement for each row. With a list of numbers in one statement, MySQL may scan the table and wait for the locks of
     * uncommitted rows.
     */
    private static void forEach(Connection connection, String sql, List<OutboxRow> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (OutboxRow row : rows) {
                statement.setLong(1, row.seq());
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private static String numbers(List<Long> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
