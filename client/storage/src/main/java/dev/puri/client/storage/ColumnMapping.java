package dev.puri.client.storage;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts names, which are pURIs or handles, to values of a database column and back. {@link PuriColumns} and {@link
 * HandleColumns} return mappings.
 *
 * <p>A mapping is reversible: {@code load(store(name))} equals the name, and two names never have the same value.
 * {@link #store} refuses a name that the column cannot represent. {@link #load} refuses a value that {@code store}
 * never returns. Immutable and thread-safe; a service keeps a mapping in a constant.
 *
 * @param <N> Java type of the names: a {@link dev.puri.schemas.identity.Puri} or a {@link
 *     dev.puri.schemas.identity.Handle}
 * @param <C> Java type of the column's values: Long, UUID, String or byte[]
 */
public final class ColumnMapping<N, C> {
    private static final Pattern SQL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final int MAX_QUOTED_CHARS = 400;

    private final String label;
    private final @Nullable String collection;
    private final Class<N> javaType;
    private final ColumnType<C> column;
    private final Codec<N, C> codec;

    /**
     * @param label description of the names, for messages
     * @param collection the {@code namespace:collection} of all names; null if names of several collections are allowed
     */
    ColumnMapping(
            String label, @Nullable String collection, Class<N> javaType, ColumnType<C> column, Codec<N, C> codec) {
        this.label = label;
        this.collection = collection;
        this.javaType = javaType;
        this.column = column;
        this.codec = codec;
    }

    /** The Java class of the names. */
    public Class<N> javaType() {
        return javaType;
    }

    /** The type of the column. */
    public ColumnType<C> column() {
        return column;
    }

    @Nullable
    String collection() {
        return collection;
    }

    /**
     * Converts a name to the value of the column.
     *
     * @throws UnmappableNameException if the column cannot represent the name
     */
    public C store(N name) {
        try {
            return codec.write(name);
        } catch (IllegalArgumentException e) {
            throw new UnmappableNameException(name + " does not fit " + this + ": " + e.getMessage(), e);
        }
    }

    /**
     * Converts a value of the column to the name.
     *
     * @throws UnmappableNameException if {@link #store} does not return this value for any name
     */
    public N load(C value) {
        try {
            return codec.read(value);
        } catch (IllegalArgumentException e) {
            throw new UnmappableNameException(
                    "the stored value " + quoted(value) + " is not a value of " + this + ": " + e.getMessage(), e);
        }
    }

    /**
     * Sets a parameter of a statement.
     *
     * @param index 1-based
     * @param name null to set NULL
     * @throws UnmappableNameException if the column cannot represent the name
     */
    public void set(PreparedStatement statement, int index, @Nullable N name) throws SQLException {
        column.set(statement, index, name == null ? null : store(name));
    }

    /**
     * Reads a column of the current row.
     *
     * @param index 1-based
     * @return the name; null if the column is NULL
     * @throws UnmappableNameException if the value is not valid for this mapping
     */
    public @Nullable N get(ResultSet rows, int index) throws SQLException {
        C value = column.get(rows, index);
        return value == null ? null : load(value);
    }

    /** Reads a column of the current row by its label. */
    public @Nullable N get(ResultSet rows, String label) throws SQLException {
        return get(rows, rows.findColumn(label));
    }

    /**
     * Returns the definition of the column for {@code create table} or {@code alter table t add column}, for example
     * {@code owner bigint}.
     *
     * @param name name of the column, an SQL name that needs no quotes
     * @throws IllegalArgumentException if the name needs quotes, or the database does not have the type
     */
    public String columnSql(Dialect dialect, String name) {
        return sqlName(name) + ' ' + column.sql(dialect);
    }

    /**
     * Returns the statement that creates an index on the column. The statement is the same for all databases.
     *
     * @param table name of the table, an SQL name that needs no quotes and has no schema
     * @throws IllegalArgumentException if a name needs quotes
     */
    public String indexSql(String table, String name) {
        return indexSql(table, name, name);
    }

    static String indexSql(String table, String name, String columns) {
        return "create index " + sqlName(table) + '_' + sqlName(name) + "_idx on " + table + " (" + columns + ")";
    }

    /** Checks a name that becomes part of an SQL statement, and returns the name. */
    static String sqlName(String name) {
        if (!SQL_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not an SQL name with only A-Z a-z 0-9 _: \"" + name + "\"");
        }
        return name;
    }

    private static String quoted(Object value) {
        String text = value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value.toString();
        return text.length() > MAX_QUOTED_CHARS ? text.substring(0, MAX_QUOTED_CHARS) + "…" : text;
    }

    /** Returns a description, for example {@code music:users as bigint}. */
    @Override
    public String toString() {
        return label + " as " + column;
    }
}
