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
 * The statements of a relay. The tables are the only state that it has: a row is in the outbox or among the blocked ones
 * until it is published.
 */
final class OutboxTables {
    /** Error texts are cut at this length. */
    private static final int MAX_ERROR_LENGTH = 1000;

    /** Rows beyond this number are not counted. */
    static final int MAX_COUNTED = 10_000;

    private static final int MAX_PURIS_SHOWN = 100;

    /** Keeps the relays' advisory locks apart from others of the database. */
    private static final int LOCK_SPACE = OutboxSchema.DEFAULT_TABLE.hashCode();

    /** A table has one lock, with or without its schema in its configured name. */
    private static final String LOCK_NAME = "CONCAT('puri_outbox ', MD5(CONCAT(?, '.', ?)))";

    /** A host that died keeps the lock for as long as the database believes in its session: about two minutes. */
    private static final List<String> POSTGRESQL_LIMITS =
            List.of("SET tcp_keepalives_idle = 60", "SET tcp_keepalives_interval = 10", "SET tcp_keepalives_count = 6");

    /** In seconds; longer than a wave may keep the session idle. */
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
     * Takes the lock that one relay of a table can have, for as long as the connection lasts. A replica gives none: its
     * locks are apart from the primary's.
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
     * Checks that this session has the lock still. A driver of MySQL or MariaDB may connect again by itself, and the new
     * session has none.
     *
     * @throws SQLException when it has not
     */
    void requireLead(Connection connection) throws SQLException {
        if (dialect != Dialect.POSTGRESQL
                && lock(connection, "SELECT IF(IS_USED_LOCK(" + LOCK_NAME + ") = CONNECTION_ID(), 1, 0)") != 1) {
            throw new SQLException("the session has lost the lock of the relay of " + outbox);
        }
    }

    /**
     * Gives the lock back, because a pool may keep the connection open. If that fails, the session ends, which gives it back
     * too; else no relay would lead for as long as the pool keeps the connection.
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

    /** The first rows, in order. */
    List<OutboxRow> first(Connection connection, int max) throws SQLException {
        return rows(connection, "SELECT " + OutboxRow.COLUMNS + " FROM " + outbox + " ORDER BY seq LIMIT " + max);
    }

    /** Those of these rows that are still there, in order. */
    List<OutboxRow> present(Connection connection, List<Long> seqs) throws SQLException {
        return rows(
                connection,
                "SELECT " + OutboxRow.COLUMNS + " FROM " + outbox + " WHERE seq IN (" + numbers(seqs)
                        + ") ORDER BY seq");
    }

    /** Blocked rows whose turn it is: the first of their pURI, with a time to retry that has come. */
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

    /** Those of these pURIs that have blocked rows. */
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

    /** Removes a row that was blocked and is published now, and makes the next one of its pURI due. */
    void deleteBlocked(Connection connection, OutboxRow row) throws SQLException {
        execute(connection, "DELETE FROM " + blocked + " WHERE seq = " + row.seq());
        makeFirstDue(connection, row.aggregateid());
    }

    /**
     * Makes the first blocked row of a pURI due, unless it has a time to retry already. It follows in a transaction of
     * its own whatever may change which row is first: an operator may skip a row while the leader moves one behind it,
     * and whoever comes here last sees both changes.
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
     * Makes the first blocked row of each pURI due that has no time to retry: where a process ended between two statements, or
     * an operator's change was not followed by its second one.
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

    /** Moves rows to the blocked ones of their pURIs, to be published when it is their turn. */
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

    /** Notes an attempt that failed. */
    void noteFailure(Connection connection, OutboxRow row, String error, long retryMillis) throws SQLException {
        String sql =
                "UPDATE " + blocked + " SET error = ?, attempts = attempts + 1, retry_ms = ? WHERE seq = " + row.seq();
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setString(1, error.length() <= MAX_ERROR_LENGTH ? error : error.substring(0, MAX_ERROR_LENGTH));
            update.setLong(2, retryMillis);
            update.executeUpdate();
        }
    }

    /** How often a blocked row was tried; 0 when it is gone. */
    int attempts(Connection connection, OutboxRow row) throws SQLException {
        try (PreparedStatement select =
                        connection.prepareStatement("SELECT attempts FROM " + blocked + " WHERE seq = " + row.seq());
                ResultSet result = select.executeQuery()) {
            return result.next() ? result.getInt(1) : 0;
        }
    }

    /** Makes a blocked row due; false when no blocked row has this event id. */
    boolean retryNow(Connection connection, UUID id) throws SQLException {
        return change(connection, "UPDATE " + blocked + " SET retry_ms = 0 WHERE id = ? AND error IS NOT NULL", id);
    }

    /** Removes a blocked row unpublished; false when no blocked row has this event id. */
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

    /** Counts what is there. */
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
     * Runs a statement for each row. A list of numbers in one statement would let MySQL scan the table, lock rows of
     * transactions that are not committed, and wait for those.
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
