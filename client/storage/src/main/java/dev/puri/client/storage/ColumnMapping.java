package dev.puri.client.storage;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Stores names of one kind in a column of one type. {@link PuriColumns} and {@link HandleColumns} make mappings.
 *
 * <p>A mapping is reversible: {@code load(store(name))} equals the name, and two names never share a value. {@link #store} refuses a name
 * that the column cannot represent, and {@link #load} refuses a value that {@code store} never returns. Immutable and thread-safe; keep
 * it in a constant.
 *
 * @param <N> type of the names: a {@link dev.puri.schemas.identity.Puri} or a {@link dev.puri.schemas.identity.Handle}
 * @param <C> type of the column's values: Long, UUID, String or byte[]
 */
public final class ColumnMapping<N, C> {
    private static final Pattern SQL_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final int SHOWN = 400;

    private final String label;
    private final @Nullable String collection;
    private final Class<N> nameType;
    private final ColumnType<C> column;
    private final Codec<N, C> codec;

    /**
     * @param label description of the names, for messages
     * @param collection the {@code namespace:collection} of all names; null if they have none in common
     */
    ColumnMapping(
            String label, @Nullable String collection, Class<N> nameType, ColumnType<C> column, Codec<N, C> codec) {
        this.label = label;
        this.collection = collection;
        this.nameType = nameType;
        this.column = column;
        this.codec = codec;
    }

    /** The class of the names. */
    public Class<N> nameType() {
        return nameType;
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
     * Returns the value to store for a name.
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
     * Returns the name of a stored value.
     *
     * @throws UnmappableNameException if {@link #store} returns that value for no name
     */
    public N load(C value) {
        try {
            return codec.read(value);
        } catch (IllegalArgumentException e) {
            throw new UnmappableNameException(
                    "the stored value " + shown(value) + " is no name of " + this + ": " + e.getMessage(), e);
        }
    }

    /**
     * Sets a parameter of a statement.
     *
     * @param index from 1
     * @param name null sets SQL's null
     * @throws UnmappableNameException if the column cannot represent the name
     */
    public void set(PreparedStatement statement, int index, @Nullable N name) throws SQLException {
        column.set(statement, index, name == null ? null : store(name));
    }

    /**
     * Reads a column of the current row.
     *
     * @param index from 1
     * @return null for SQL's null
     * @throws UnmappableNameException if the value is not one of this mapping
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
     * Returns the definition of the column for {@code create table} or {@code alter table t add column}, for example {@code
     * owner bigint}.
     *
     * @param name an SQL name that needs no quotes
     * @throws IllegalArgumentException if the name needs quotes, or the database has no such type
     */
    public String columnSql(Dialect dialect, String name) {
        return sqlName(name) + ' ' + column.sql(dialect);
    }

    /**
     * Returns the statement that creates an index on the column; it is the same for all databases.
     *
     * @param table an SQL name that needs no quotes and has no schema
     * @throws IllegalArgumentException if a name needs quotes
     */
    public String indexSql(String table, String name) {
        return indexSql(table, name, name);
    }

    static String indexSql(String table, String name, String columns) {
        return "create index " + sqlName(table) + '_' + sqlName(name) + "_idx on " + table + " (" + columns + ")";
    }

    /** Checks a name that becomes part of a statement. */
    static String sqlName(String name) {
        if (!SQL_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("not an SQL name of A-Z a-z 0-9 _: \"" + name + "\"");
        }
        return name;
    }

    private static String shown(Object value) {
        String text = value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value.toString();
        return text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text;
    }

    /** For example {@code music:users as bigint}. */
    @Override
    public String toString() {
        return label + " as " + column;
    }
}
