package dev.puri.client.outbox;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Provides the SQL that creates the tables of an outbox. The jar has the SQL for each {@link Dialect}, with the default
 * table names, as a file for Flyway, Liquibase or an administrator, such as {@code
 * dev/puri/client/outbox/postgresql/V1__puri_outbox.sql}.
 */
public final class OutboxSchema {
    /**
     * Name of the outbox table in these files. The names of its other tables begin with this name: {@code
     * puri_outbox_blocked} and {@code puri_outbox_lock}.
     */
    public static final String DEFAULT_TABLE = "puri_outbox";

    private static final Pattern TABLE_NAME = Pattern.compile("([a-z_][a-z0-9_]{0,40}\\.)?[a-z_][a-z0-9_]{0,40}");

    /** SQLStates of a missing table: first that of PostgreSQL, then that of MySQL and MariaDB. */
    private static final Set<String> MISSING_TABLE_SQL_STATES = Set.of("42P01", "42S02");

    private OutboxSchema() {}

    /**
     * If the error is a missing table, returns a copy whose message also names the SQL file that creates the table.
     * Returns any other error unchanged.
     */
    static SQLException withMissingTableHint(SQLException error, Dialect dialect, String table) {
        if (!MISSING_TABLE_SQL_STATES.contains(String.valueOf(error.getSQLState()))) {
            return error;
        }
        String text = error.getMessage() + "; dev/puri/client/outbox/" + file(dialect)
                + " in the jar of client-outbox creates the tables of " + table;
        return new SQLException(text, error.getSQLState(), error.getErrorCode(), error);
    }

    /** Path of the SQL file, relative to this package. */
    static String file(Dialect dialect) {
        return dialect.folder() + "/V1__puri_outbox.sql";
    }

    /** Returns the SQL that creates the tables with their default names. */
    public static String sql(Dialect dialect) {
        return sql(dialect, DEFAULT_TABLE);
    }

    /**
     * Returns the SQL that creates the tables.
     *
     * @param table name of the outbox table: lower-case letters, digits and {@code _}, at most 41 characters, and no
     *     digit first; a schema with the same rules, and a dot, may precede it
     * @throws IllegalArgumentException if the table name is not valid
     */
    public static String sql(Dialect dialect, String table) {
        requireValidTableName(table);
        String file = file(dialect);
        try (InputStream in = OutboxSchema.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace(DEFAULT_TABLE, table);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the SQL as separate statements, for drivers that accept only one statement at a time. */
    public static List<String> statements(Dialect dialect, String table) {
        return Arrays.stream(sql(dialect, table).split(";\\s*\\n")).toList();
    }

    /**
     * Checks a table name, which becomes part of SQL text.
     *
     * @return the table name
     * @throws IllegalArgumentException if the table name is not valid
     */
    static String requireValidTableName(String table) {
        if (!TABLE_NAME.matcher(table).matches()) {
            throw new IllegalArgumentException(
                    "invalid name of an outbox table: \"" + table + "\"; use a-z 0-9 _, at most"
                            + " 41 characters and no digit first; a schema and a dot may precede it");
        }
        return table;
    }
}
