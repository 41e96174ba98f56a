package dev.puri.client.outbox;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
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
 * The outbox table and the table of blocked rows, as a relay reads and writes them. They are the only persistent state
 * of the relay: until a row is published, it is in one of them.
 */
final class OutboxTables {
    /** Maximum number of characters of a stored error text. */
    private static final int MAX_ERROR_LENGTH = 1000;

    /** Rows are counted up to this number. */
    static final int MAX_COUNTED_ROWS = 10_000;

    private static final int MAX_REPORTED_ROWS = 100;

    /**
     * First key of a relay's advisory lock in PostgreSQL. It distinguishes these locks from other advisory locks in the
     * database.
     */
    private static final int ADVISORY_LOCK_CLASS = OutboxSchema.DEFAULT_TABLE.hashCode();

    /**
     * SQL expression for the name of a relay's lock in MySQL and MariaDB. Its parameters are the schema and the table,
     * so the name is the same whether or not the configured table name includes the schema.
     */
    private static final String LOCK_NAME_SQL = "CONCAT('puri_outbox ', MD5(CONCAT(?, '.', ?)))";

    /** Session settings for PostgreSQL, so that the session of a dead host loses the lock after about two minutes. */
    private static final List<String> POSTGRESQL_KEEPALIVES =
            List.of("SET tcp_keepalives_idle = 60", "SET tcp_keepalives_interval = 10", "SET tcp_keepalives_count = 6");

    /**
     * Ends the session of a dead host in MySQL and MariaDB after 10 minutes without a statement. A session is also idle
     * while the relay publishes rows, but at most for {@link LeaderSession#WAVE_TIMEOUT}, and between two reads of the
     * table, but at most for 5 minutes.
     */
    private static final String MYSQL_IDLE_TIMEOUT = "SET SESSION wait_timeout = 600";

    // All classes of a relay use the same logger.
    private static final Logger LOG = LoggerFactory.getLogger(OutboxRelay.class);

    private static final String COPIED_COLUMNS =
            "seq, id, aggregatetype, aggregateid, type, payload, traceparent, tracestate, created_ms";

    private final Dialect dialect;
    private final String outboxTable;
    private final String blockedTable;

    OutboxTables(Dialect dialect, String table) {
        this.dialect = dialect;
        this.outboxTable = OutboxSchema.requireValidTableName(table);
        this.blockedTable = table + "_blocked";
    }

    /**
     * Tries to take the lock that makes a relay the leader for this outbox table. The session keeps the lock until it
     * ends or {@link #resign} is called. Returns false if another session has the lock. Also returns false on a
     * read-only replica, because the locks of a replica are independent of those of the primary.
     */
    boolean tryLead(Connection connection) throws SQLException {
        String sql = dialect == Dialect.POSTGRESQL
                ? "SELECT CASE WHEN pg_is_in_recovery() THEN 0 WHEN pg_try_advisory_lock(?, " + Dialect.OID
                        + "::int) THEN 1 ELSE 0 END"
                // As text, because read_only is a number in MySQL and a text such as OFF or ON since MariaDB 12.
                : "SELECT IF(CAST(@@global.read_only AS CHAR) IN ('0', 'OFF'), GET_LOCK(" + LOCK_NAME_SQL + ", 0), 0)";
        if (executeLockFunction(connection, sql) != 1) {
            return false;
        }
        try {
            for (String setting : dialect == Dialect.POSTGRESQL ? POSTGRESQL_KEEPALIVES : List.of(MYSQL_IDLE_TIMEOUT)) {
                execute(connection, setting);
            }
        } catch (SQLException | RuntimeException | Error e) {
            resign(connection);
            throw e;
        }
        return true;
    }

    /**
     * Checks that this session still has the lock. A driver of MySQL or MariaDB may reconnect by itself, and the new
     * session has no lock.
     *
     * @throws SQLException if the session does not have the lock
     */
    void requireLock(Connection connection) throws SQLException {
        if (dialect != Dialect.POSTGRESQL
                && executeLockFunction(
                                connection, "SELECT IF(IS_USED_LOCK(" + LOCK_NAME_SQL + ") = CONNECTION_ID(), 1, 0)")
                        != 1) {
            throw new SQLException("the session has lost the lock of the relay of " + outboxTable);
        }
    }

    /**
     * Releases the lock, because a connection pool may keep the session open, and then no other relay could become
     * leader. If the lock cannot be released, ends the session, which releases it too.
     */
    void resign(Connection connection) {
        try {
            unlock(connection);
        } catch (SQLException | RuntimeException | Error e) {
            LOG.warn(
                    "The database session of the relay of {} is aborted, because its lock cannot be released: {}",
                    outboxTable,
                    e.toString());
            try {
                connection.abort(Runnable::run);
            } catch (SQLException | RuntimeException abort) {
                LOG.warn(
                        "The database session of the relay of {} may still have its lock: {}",
                        outboxTable,
                        abort.toString());
            }
        }
    }

    private void unlock(Connection connection) throws SQLException {
        String sql = dialect == Dialect.POSTGRESQL
                ? "SELECT CASE WHEN pg_advisory_unlock(?, " + Dialect.OID + "::int) THEN 1 ELSE 0 END"
                : "SELECT RELEASE_LOCK(" + LOCK_NAME_SQL + ")";
        executeLockFunction(connection, sql);
        if (dialect == Dialect.POSTGRESQL) {
            for (String setting : POSTGRESQL_KEEPALIVES) {
                execute(connection, setting.replaceFirst("SET (\\S+) = .*", "RESET $1"));
            }
        } else {
            execute(connection, "SET SESSION wait_timeout = DEFAULT");
        }
    }

    private int executeLockFunction(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            if (dialect == Dialect.POSTGRESQL) {
                statement.setInt(1, ADVISORY_LOCK_CLASS);
                statement.setString(2, outboxTable);
            } else {
                statement.setString(1, schema(connection));
                statement.setString(2, outboxTable.substring(outboxTable.indexOf('.') + 1));
            }
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getInt(1);
            }
        }
    }

    /** Returns the schema of the tables in MySQL or MariaDB. */
    private String schema(Connection connection) throws SQLException {
        int dot = outboxTable.indexOf('.');
        if (dot >= 0) {
            return outboxTable.substring(0, dot);
        }
        try (PreparedStatement select = connection.prepareStatement("SELECT DATABASE()");
                ResultSet result = select.executeQuery()) {
            result.next();
            String currentSchema = result.getString(1);
            if (currentSchema == null) {
                throw new SQLException(
                        "the connection has no current database: name a database in its URL, or a schema in front of"
                                + " the table " + outboxTable);
            }
            return currentSchema;
        }
    }

    /** Reads the first rows of the outbox in the order of {@code seq}. */
    List<OutboxRow> firstRows(Connection connection, int max) throws SQLException {
        return rows(connection, "SELECT " + OutboxRow.COLUMNS + " FROM " + outboxTable + " ORDER BY seq LIMIT " + max);
    }

    /** Reads the rows with these numbers that still exist, in the order of {@code seq}. */
    List<OutboxRow> rowsWithSeqs(Connection connection, List<Long> seqs) throws SQLException {
        String seqList = seqs.stream().map(String::valueOf).collect(Collectors.joining(", "));
        return rows(
                connection,
                "SELECT " + OutboxRow.COLUMNS + " FROM " + outboxTable + " WHERE seq IN (" + seqList
                        + ") ORDER BY seq");
    }

    /** Reads the rows to retry now: of each pURI the first blocked row, if the retry time of the row has passed. */
    List<OutboxRow> dueRows(Connection connection, long nowMillis, int max) throws SQLException {
        return rows(
                connection,
                "SELECT " + OutboxRow.COLUMNS + " FROM " + blockedTable + " b WHERE retry_ms <= " + nowMillis
                        + " AND NOT EXISTS (SELECT 1 FROM " + blockedTable
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

    /** Returns the pURIs of these rows that already have blocked rows. */
    Set<String> blockedPurisOf(Connection connection, List<OutboxRow> rows) throws SQLException {
        List<String> puris =
                rows.stream().map(OutboxRow::aggregateid).distinct().toList();
        String placeholders = puris.stream().map(puri -> "?").collect(Collectors.joining(", "));
        String sql =
                "SELECT DISTINCT aggregateid FROM " + blockedTable + " WHERE aggregateid IN (" + placeholders + ")";
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            for (int i = 0; i < puris.size(); i++) {
                select.setString(i + 1, puris.get(i));
            }
            try (ResultSet result = select.executeQuery()) {
                Set<String> blockedPuris = new HashSet<>();
                while (result.next()) {
                    blockedPuris.add(result.getString(1));
                }
                return blockedPuris;
            }
        }
    }

    /** Deletes published rows from the outbox. */
    void delete(Connection connection, List<OutboxRow> rows) throws SQLException {
        inTransaction(
                connection, () -> executeForEach(connection, "DELETE FROM " + outboxTable + " WHERE seq = ?", rows));
    }

    /** Deletes a blocked row that was published, and makes the next blocked row of its pURI due. */
    void deleteBlocked(Connection connection, OutboxRow row) throws SQLException {
        execute(connection, "DELETE FROM " + blockedTable + " WHERE seq = " + row.seq());
        makeFirstBlockedRowDue(connection, row.aggregateid());
    }

    /**
     * Makes the first blocked row of a pURI due, unless the row has a retry time already. Must be called after the
     * transaction that changed the blocked rows of the pURI, not in it: an operator may delete a row while the leader
     * adds one. Both then call this method, and the later call sees both changes.
     */
    private void makeFirstBlockedRowDue(Connection connection, String puri) throws SQLException {
        long firstSeq;
        try (PreparedStatement select =
                connection.prepareStatement("SELECT MIN(seq) FROM " + blockedTable + " WHERE aggregateid = ?")) {
            select.setString(1, puri);
            try (ResultSet result = select.executeQuery()) {
                result.next();
                firstSeq = result.getLong(1);
                if (result.wasNull()) {
                    return;
                }
            }
        }
        execute(
                connection,
                "UPDATE " + blockedTable + " SET retry_ms = 0 WHERE retry_ms IS NULL AND seq = " + firstSeq);
    }

    /**
     * Gives the first blocked row of each pURI a retry time if it has none. Otherwise the row would never be retried.
     * The time is missing if a relay, or the process of an operator, ended between two statements.
     */
    void addMissingRetryTimes(Connection connection) throws SQLException {
        Set<String> puris = new HashSet<>();
        String sql =
                "SELECT aggregateid FROM " + blockedTable + " b WHERE retry_ms IS NULL AND NOT EXISTS (SELECT 1 FROM "
                        + blockedTable + " e WHERE e.aggregateid = b.aggregateid AND e.seq < b.seq)";
        try (PreparedStatement select = connection.prepareStatement(sql);
                ResultSet result = select.executeQuery()) {
            while (result.next()) {
                puris.add(result.getString(1));
            }
        }
        for (String puri : puris) {
            makeFirstBlockedRowDue(connection, puri);
        }
    }

    /** Moves rows from the outbox to the table of blocked rows, where they keep their order. */
    void moveToBlocked(Connection connection, List<OutboxRow> rows) throws SQLException {
        inTransaction(connection, () -> {
            copyToBlocked(connection, rows);
            executeForEach(connection, "DELETE FROM " + outboxTable + " WHERE seq = ?", rows);
        });
        for (String puri : rows.stream().map(OutboxRow::aggregateid).distinct().toList()) {
            makeFirstBlockedRowDue(connection, puri);
        }
    }

    private void copyToBlocked(Connection connection, List<OutboxRow> rows) throws SQLException {
        String sql = "INSERT INTO " + blockedTable + " (" + COPIED_COLUMNS + ", attempts) SELECT " + COPIED_COLUMNS
                + ", 0 FROM " + outboxTable + " WHERE seq = ?";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            for (OutboxRow row : rows) {
                insert.setLong(1, row.seq());
                // Not in a JDBC batch: MariaDB does not support INSERT ... SELECT in its bulk protocol (error 1295).
                insert.executeUpdate();
            }
        }
    }

    /** Stores the error of a failed attempt and the time of the next attempt. */
    void recordFailure(Connection connection, OutboxRow row, String error, long retryMillis) throws SQLException {
        String sql = "UPDATE " + blockedTable + " SET error = ?, attempts = attempts + 1, retry_ms = ? WHERE seq = "
                + row.seq();
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setString(1, error.length() <= MAX_ERROR_LENGTH ? error : error.substring(0, MAX_ERROR_LENGTH));
            update.setLong(2, retryMillis);
            update.executeUpdate();
        }
    }

    /** Returns the number of attempts to publish a blocked row; 0 if the row no longer exists. */
    int attempts(Connection connection, OutboxRow row) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(
                        "SELECT attempts FROM " + blockedTable + " WHERE seq = " + row.seq());
                ResultSet result = select.executeQuery()) {
            return result.next() ? result.getInt(1) : 0;
        }
    }

    /** Makes a failed row due. Returns false if no failed row has this event id. */
    boolean makeFailedRowDue(Connection connection, UUID id) throws SQLException {
        return executeForId(
                connection, "UPDATE " + blockedTable + " SET retry_ms = 0 WHERE id = ? AND error IS NOT NULL", id);
    }

    /** Deletes a blocked row without publishing it. Returns false if no blocked row has this event id. */
    boolean skip(Connection connection, UUID id) throws SQLException {
        String puri;
        try (PreparedStatement select =
                connection.prepareStatement("SELECT aggregateid FROM " + blockedTable + " WHERE id = ?")) {
            dialect.setUuid(select, 1, id);
            try (ResultSet result = select.executeQuery()) {
                if (!result.next()) {
                    return false;
                }
                puri = result.getString(1);
            }
        }
        boolean isDeleted = executeForId(connection, "DELETE FROM " + blockedTable + " WHERE id = ?", id);
        makeFirstBlockedRowDue(connection, puri);
        return isDeleted;
    }

    private boolean executeForId(Connection connection, String sql, UUID id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            dialect.setUuid(statement, 1, id);
            return statement.executeUpdate() > 0;
        }
    }

    /** Reads the state of the tables, and returns it with the given state of the relay. */
    RelayStatus status(Connection connection, boolean isLeader, @Nullable String problem) throws SQLException {
        long waitingRowCount = queryLong(connection, countSql(outboxTable));
        long blockedRowCount = queryLong(connection, countSql(blockedTable));
        long oldestWaitingMillis = queryLong(connection, firstCreatedSql(outboxTable));
        long oldestBlockedMillis = queryLong(connection, firstCreatedSql(blockedTable));
        List<RelayStatus.BlockedPuri> puris = new ArrayList<>();
        // Every failed row has a retry time, and that column has an index.
        String sql = "SELECT aggregateid, id, seq, created_ms, attempts, error FROM " + blockedTable
                + " WHERE retry_ms IS NOT NULL AND error IS NOT NULL ORDER BY seq LIMIT " + MAX_REPORTED_ROWS;
        try (PreparedStatement select = connection.prepareStatement(sql);
                ResultSet result = select.executeQuery()) {
            while (result.next()) {
                puris.add(new RelayStatus.BlockedPuri(
                        result.getString(1),
                        UUID.fromString(result.getString(2)),
                        result.getLong(3),
                        Instant.ofEpochMilli(result.getLong(4)),
                        result.getInt(5),
                        result.getString(6)));
            }
        }
        return new RelayStatus(
                isLeader,
                waitingRowCount,
                oldestWaitingMillis == 0 ? null : Instant.ofEpochMilli(oldestWaitingMillis),
                blockedRowCount,
                oldestBlockedMillis == 0 ? null : Instant.ofEpochMilli(oldestBlockedMillis),
                puris,
                problem);
    }

    private static String firstCreatedSql(String table) {
        return "SELECT COALESCE(MIN(created_ms), 0) FROM (SELECT created_ms FROM " + table + " ORDER BY seq LIMIT 1) o";
    }

    private static String countSql(String table) {
        return "SELECT COUNT(*) FROM (SELECT 1 FROM " + table + " LIMIT " + MAX_COUNTED_ROWS + ") c";
    }

    private static long queryLong(Connection connection, String sql) throws SQLException {
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

    /** Executes statements in one transaction. If they fail, an error of the rollback does not hide the cause. */
    private static void inTransaction(Connection connection, Statements statements) throws SQLException {
        try {
            connection.setAutoCommit(false);
            statements.execute();
            connection.commit();
        } catch (SQLException | RuntimeException | Error e) {
            try {
                connection.rollback();
                connection.setAutoCommit(true);
            } catch (SQLException | RuntimeException rollback) {
                e.addSuppressed(rollback);
            }
            throw e;
        }
        connection.setAutoCommit(true);
    }

    @FunctionalInterface
    private interface Statements {
        void execute() throws SQLException;
    }

    /**
     * Executes a statement for each row. If one statement had the numbers of all rows, MySQL might scan the table and
     * wait for the locks of uncommitted rows.
     */
    private static void executeForEach(Connection connection, String sql, List<OutboxRow> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (OutboxRow row : rows) {
                statement.setLong(1, row.seq());
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }
}
