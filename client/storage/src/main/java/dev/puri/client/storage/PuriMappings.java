package dev.puri.client.storage;

import dev.puri.schemas.identity.Puri;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Stores pURIs of several collections in two columns: the code of the collection, and the value of that collection's mapping.
 *
 * <pre>{@code
 * PuriMappings<Long> subjects = PuriMappings.of(1, USERS).and(2, TRACKS);
 * subjects.set(statement, 3, puri);      // parameters 3 and 4
 * }</pre>
 *
 * <p>A code must not change once rows are stored with it. Immutable and thread-safe.
 *
 * @param <C> type of the second column's values
 */
public final class PuriMappings<C> {
    /** Greatest code: the maximum of a smallint. */
    public static final int MAX_CODE = Short.MAX_VALUE;

    private final ColumnType<C> column;
    private final Map<Integer, ColumnMapping<Puri, C>> byCode;
    private final Map<String, Integer> codes;

    /**
     * A pURI as it is stored.
     *
     * @param code code of the collection
     * @param value value of the collection's mapping
     */
    public record Stored<C>(int code, C value) {}

    private PuriMappings(
            ColumnType<C> column, Map<Integer, ColumnMapping<Puri, C>> byCode, Map<String, Integer> codes) {
        this.column = column;
        this.byCode = byCode;
        this.codes = codes;
    }

    /**
     * Begins with a first collection.
     *
     * @param code 0 to {@value #MAX_CODE}
     * @throws IllegalArgumentException if the code is out of bounds or the mapping is not of one collection
     */
    public static <C> PuriMappings<C> of(int code, ColumnMapping<Puri, C> mapping) {
        return new PuriMappings<>(mapping.column(), Map.of(), Map.of()).and(code, mapping);
    }

    /**
     * Returns these mappings with one more collection.
     *
     * @param code 0 to {@value #MAX_CODE}
     * @throws IllegalArgumentException if code or collection are taken already, the code is out of bounds, the
     *     mapping is not of one collection, or its column is of another type
     */
    public PuriMappings<C> and(int code, ColumnMapping<Puri, C> mapping) {
        String collection = mapping.collection();
        if (collection == null) {
            throw new IllegalArgumentException(mapping + " is not of one collection");
        }
        if (code < 0 || code > MAX_CODE) {
            throw new IllegalArgumentException("a code from 0 to " + MAX_CODE + ", not " + code);
        }
        if (!mapping.column().toString().equals(column.toString())) {
            throw new IllegalArgumentException(mapping + " needs another column than " + column);
        }
        Map<Integer, ColumnMapping<Puri, C>> mappings = new HashMap<>(byCode);
        ColumnMapping<Puri, C> former = mappings.putIfAbsent(code, mapping);
        if (former != null) {
            throw new IllegalArgumentException("the code " + code + " stands for " + former + " already");
        }
        Map<String, Integer> numbers = new HashMap<>(codes);
        Integer other = numbers.putIfAbsent(collection, code);
        if (other != null) {
            throw new IllegalArgumentException(collection + " has the code " + other + " already");
        }
        return new PuriMappings<>(column, Map.copyOf(mappings), Map.copyOf(numbers));
    }

    /**
     * Returns the code and the value to store for a pURI.
     *
     * @throws UnmappableNameException if its collection has no mapping here, or the mapping refuses it
     */
    public Stored<C> store(Puri puri) {
        Integer code = codes.get(puri.qualifiedCollection());
        if (code == null) {
            throw new UnmappableNameException(puri + " is of no collection of " + this, null);
        }
        return new Stored<>(code, mapping(code).store(puri));
    }

    /**
     * Returns the pURI of a stored code and value.
     *
     * @throws UnmappableNameException if no collection here has the code, or its mapping refuses the value
     */
    public Puri load(int code, C value) {
        return mapping(code).load(value);
    }

    private ColumnMapping<Puri, C> mapping(int code) {
        ColumnMapping<Puri, C> mapping = byCode.get(code);
        if (mapping == null) {
            throw new UnmappableNameException("the stored code " + code + " is none of " + this, null);
        }
        return mapping;
    }

    /**
     * Sets two parameters of a statement.
     *
     * @param index index of the code, from 1; the value has the next one
     * @param puri null sets SQL's null twice
     * @throws UnmappableNameException as {@link #store}
     */
    public void set(PreparedStatement statement, int index, @Nullable Puri puri) throws SQLException {
        if (puri == null) {
            statement.setNull(index, Types.SMALLINT);
            column.set(statement, index + 1, null);
            return;
        }
        Stored<C> stored = store(puri);
        statement.setInt(index, stored.code());
        column.set(statement, index + 1, stored.value());
    }

    /**
     * Reads two columns of the current row.
     *
     * @param index index of the code, from 1; the value has the next one
     * @return null if both are SQL's null
     * @throws UnmappableNameException as {@link #load}, and if only one is null
     */
    public @Nullable Puri get(ResultSet rows, int index) throws SQLException {
        int code = rows.getInt(index);
        boolean noCode = rows.wasNull();
        C value = column.get(rows, index + 1);
        if (noCode != (value == null)) {
            throw new UnmappableNameException("one column of " + this + " is null and the other is not", null);
        }
        return value == null ? null : load(code, value);
    }

    /** Returns the definitions of both columns, for example {@code subject_collection smallint, subject bigint}. */
    public String columnsSql(Dialect dialect, String name) {
        return ColumnMapping.sqlName(name) + "_collection smallint, " + name + ' ' + column.sql(dialect);
    }

    /** Returns the statement that creates an index on both columns, the code first. */
    public String indexSql(String table, String name) {
        return ColumnMapping.indexSql(table, name, name + "_collection, " + name);
    }

    /** For example <code>{1=music:users as bigint, 2=music:tracks as bigint}</code>. */
    @Override
    public String toString() {
        return new TreeMap<>(byCode).toString();
    }
}
