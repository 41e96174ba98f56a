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
 * The tables of an outbox as SQL. The same text is in the jar as {@code
 * dev/puri/client/outbox/DATABASE/V1__puri_outbox.sql}, for Flyway, Liquibase or an administrator.
 */
public final class OutboxSchema {
    /** The table's name in these files. The names of the other tables begin with it. */
    public static final String DEFAULT_TABLE = "puri_outbox";

    private static final Pattern TABLE = Pattern.compile("([a-z_][a-z0-9_]{0,40}\\.)?[a-z_][a-z0-9_]{0,40}");

    /** SQLStates of a missing table: PostgreSQL's, and that of MySQL and MariaDB. */
    private static final Set<String> MISSING_TABLE = Set.of("42P01", "42S02");

    private OutboxSchema() {}

    /** Adds to the error of a missing table which file creates it; returns any other error as it is. */
    static SQLException explained(SQLException error, Dialect dialect, String table) {
        if (!MISSING_TABLE.contains(String.valueOf(error.getSQLState()))) {
            return error;
        }
        String text = error.getMessage() + "; dev/puri/client/outbox/" + dialect.folder()
                + "/V1__puri_outbox.sql in the jar of client-outbox creates the tables of " + table;
        return new SQLException(text, error.getSQLState(), error.getErrorCode(), error);
    }

    /** Returns the SQL that creates the tables under their default names. */
    public static String sql(Dialect dialect) {
        return sql(dialect, DEFAULT_TABLE);
    }

    /**
     * Returns the SQL that creates the tables.
     *
     * @param table lower-case letters, digits and {@code _}, up to 41 characters; a schema may stand before it
     * @throws IllegalArgumentException when the table's name has another form
     */
    public static String sql(Dialect dialect, String table) {
        requireTable(table);
        String file = dialect.folder() + "/V1__puri_outbox.sql";
        try (InputStream in = OutboxSchema.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace(DEFAULT_TABLE, table);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the SQL as single statements, for drivers that take one at a time. */
    public static List<String> statements(Dialect dialect, String table) {
        return Arrays.stream(sql(dialect, table).split(";\\s*\\n")).toList();
    }

    /**
     * Checks a table's name, which becomes part of SQL.
     *
     * @return the name
     * @throws IllegalArgumentException when it has another form
     */
    static String requireTable(String table) {
        if (!TABLE.matcher(table).matches()) {
            throw new IllegalArgumentException("an outbox table is named by a-z 0-9 _, up to 41 characters, optionally"
                    + " after a schema and a point, not \"" + table + "\"");
        }
        return table;
    }
}
