package dev.puri.client.outbox.debezium;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

/**
 * The replication of an outbox in PostgreSQL: its table, its publication and its replication slot.
 *
 * @param schema schema of the table
 * @param table name of the table without the schema
 * @param publication name of the publication; it contains the table's oid
 * @param slot name of the slot; it contains the oid of the table, and the oid of the database because slots belong to
 *     the whole server
 */
record OutboxReplication(String schema, String table, String publication, String slot) {
    private static final String OBJECT_IN_USE = "55006";
    private static final String UNDEFINED_OBJECT = "42704";
    private static final int MAX_DROP_ATTEMPTS = 100;
    private static final long DROP_RETRY_MILLIS = 100;

    /**
     * Derives the names for an outbox table.
     *
     * @throws SQLException if the server does not have {@code wal_level=logical}, the table does not exist, or the name
     *     of its schema has a comma, at which Debezium would split it
     */
    static OutboxReplication of(Connection connection, String table) throws SQLException {
        String sql = "SELECT n.nspname, c.relname, d.oid, current_setting('wal_level'), c.oid"
                + " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                + " JOIN pg_database d ON d.datname = current_database() WHERE c.oid = ?::regclass";
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setString(1, table);
            try (ResultSet result = select.executeQuery()) {
                result.next();
                if (!result.getString(4).equals("logical")) {
                    throw new SQLException("wal_level is " + result.getString(4) + "; it must be logical");
                }
                String schema = result.getString(1);
                if (schema.contains(",")) {
                    throw new SQLException("the schema \"" + schema + "\" of " + table
                            + " has a comma in its name; Debezium does not support this");
                }
                long oid = result.getLong(5);
                return new OutboxReplication(
                        schema,
                        result.getString(2),
                        "puri_outbox_" + oid,
                        "puri_outbox_" + result.getLong(3) + "_" + oid);
            }
        }
    }

    /**
     * Drops the slot of an earlier relay that was killed and could not drop its slot. Ends the session that still reads
     * from the slot, if there is one. The caller is the leader and has the lock of the outbox, so the relay of that
     * session has lost it.
     */
    void dropExisting(Connection connection) throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                executeWithSlotName(
                        connection,
                        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                                + " WHERE slot_name = ? AND active_pid IS NOT NULL");
                executeWithSlotName(
                        connection,
                        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ?");
                return;
            } catch (SQLException e) {
                if (UNDEFINED_OBJECT.equals(e.getSQLState())) {
                    return;
                }
                if (!OBJECT_IN_USE.equals(e.getSQLState()) || attempt == MAX_DROP_ATTEMPTS) {
                    throw e;
                }
            }
            TimeUnit.MILLISECONDS.sleep(DROP_RETRY_MILLIS);
        }
    }

    private void executeWithSlotName(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, slot);
            statement.execute();
        }
    }

    void createPublicationIfMissing(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT 1 FROM pg_publication WHERE pubname = ?")) {
            select.setString(1, publication);
            try (ResultSet result = select.executeQuery()) {
                if (result.next()) {
                    return;
                }
            }
        }
        String sql = "CREATE PUBLICATION " + publication + " FOR TABLE " + quotedTable() + " WITH (publish = 'insert')";
        try (PreparedStatement create = connection.prepareStatement(sql)) {
            create.execute();
        }
    }

    /** Returns schema and table for SQL. They need quotes, because {@code search_path} may have any schema. */
    String quotedTable() {
        return quoted(schema) + "." + quoted(table);
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }
}
