package dev.puri.client.storage;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Stores names of one kind in a column of one type. {@link PuriColumns} and {@link HandleColumns} make them.
 *
 * <p>Each is reversible: {@code load(store(name))} equals the name, and two names never share a value. A name that the
 * column cannot represent is refused when it is stored, and so is a value that {@link #store} never returns when it is
 * loaded. Immutable and thread-safe; keep it in a constant.
 *
 * @param <N> the name: a {@link dev.puri.schemas.identity.Puri} or a {@link dev.puri.schemas.identity.Handle}
 * @param <C> the column's values: Long, UUID, String or byte[]
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
     * @param label what is mapped, for messages
     * @param collection the {@code namespace:collection} of all its names; null when they have none in common
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
     * The value to store for a name.
     *
     * @throws UnmappableNameException when the column cannot represent the name
     */
    public C store(N name) {
        try {
            return codec.write(name);
        } catch (IllegalArgumentException e) {
            throw new UnmappableNameException(name + " does not fit " + this + ": " + e.getMessage(), e);
        }
    }

    /**
     * The name of a stored value.
     *
     * @throws UnmappableNameException when {@link #store} returns that value for no name
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
     * @throws UnmappableNameException when the column cannot represent the name
     */
    public void set(PreparedStatement statement, int index, @Nullable N name) throws SQLException {
        column.set(statement, index, name == null ? null : store(name));
    }

    /**
     * Reads a column of the current row.
     *
     * @param index from 1
     * @return null for SQL's null
     * @throws UnmappableNameException when the value there is none of this mapping
     */
    public @Nullable N get(ResultSet rows, int index) throws SQLException {
        C value = column.get(rows, index);
        return value == null ? null : load(value);
    }

    /** The same by the column's label. */
    public @Nullable N get(ResultSet rows, String label) throws SQLException {
        return get(rows, rows.findColumn(label));
    }

    /**
     * A column in SQL, to stand in {@code create table} or behind {@code alter table t add column}; for instance
     * {@code owner bigint}.
     *
     * @param name an SQL name that needs no quotes
     * @throws IllegalArgumentException when it does need them, or the database has no such type
     */
    public String columnSql(Dialect dialect, String name) {
        return sqlName(name) + ' ' + column.sql(dialect);
    }

    /**
     * The statement that makes an index on the column; it is the same for all databases.
     *
     * @param table an SQL name that needs no quotes and has no schema
     * @throws IllegalArgumentException when a name needs quotes
     */
    public String indexSql(String table, String name) {
        return indexSql(table, name, name);
    }

    static String indexSql(String table, String name, String columns) {
        return "create index " + sqlName(table) + '_' + sqlName(name) + "_idx on " + table + " (" + columns + ")";
    }

    /** Names are put into statements as they are, so they must be nothing but names. */
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

    /** Such as {@code music:users as bigint}. */
    @Override
    public String toString() {
        return label + " as " + column;
    }
}
