package dev.puri.client.outbox.debezium;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

/**
 * The replication slot and the publication of an outbox in PostgreSQL.
 *
 * @param schema schema of the table
 * @param table name of the table without the schema
 * @param publication name of the publication; it contains the table's oid
 * @param name name of the slot; it contains the oids of the database, because slots belong to a whole server, and of the table
 */
record Slot(String schema, String table, String publication, String name) {
    private static final String OBJECT_IN_USE = "55006";
    private static final String UNDEFINED_OBJECT = "42704";
    private static final int DROP_ATTEMPTS = 100;
    private static final long DROP_PAUSE_MILLIS = 100;

    static Slot of(Connection connection, String table) throws SQLException {
        String sql = "SELECT n.nspname, c.relname, d.oid, current_setting('wal_level'), c.oid"
                + " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                + " JOIN pg_database d ON d.datname = current_database() WHERE c.oid = ?::regclass";
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setString(1, table);
            try (ResultSet found = select.executeQuery()) {
                found.next();
                if (!found.getString(4).equals("logical")) {
                    throw new SQLException("wal_level is " + found.getString(4) + "; it must be logical");
                }
                long oid = found.getLong(5);
                return new Slot(
                        found.getString(1),
                        found.getString(2),
                        "puri_outbox_" + oid,
                        "puri_outbox_" + found.getLong(3) + "_" + oid);
            }
        }
    }

    /**
     * Drops the slot that a relay left because it did not end in order. Disconnects a session that still reads from the slot: its relay
     * has lost the lock.
     */
    void dropLeftOver(Connection connection) throws SQLException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                execute(
                        connection,
                        "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots"
                                + " WHERE slot_name = ? AND active_pid IS NOT NULL");
                execute(
                        connection,
                        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = ?");
                return;
            } catch (SQLException e) {
                if (UNDEFINED_OBJECT.equals(e.getSQLState())) {
                    return;
                }
                if (!OBJECT_IN_USE.equals(e.getSQLState()) || attempt == DROP_ATTEMPTS) {
                    throw e;
                }
            }
            TimeUnit.MILLISECONDS.sleep(DROP_PAUSE_MILLIS);
        }
    }

    private void execute(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, name);
            statement.execute();
        }
    }

    void makePublication(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT 1 FROM pg_publication WHERE pubname = ?")) {
            select.setString(1, publication);
            try (ResultSet found = select.executeQuery()) {
                if (found.next()) {
                    return;
                }
            }
        }
        // The names come from the database's catalogue, and have the form of an outbox's table.
        String sql = "CREATE PUBLICATION " + publication + " FOR TABLE " + schema + "." + table
                + " WITH (publish = 'insert')";
        try (PreparedStatement create = connection.prepareStatement(sql)) {
            create.execute();
        }
    }
}
