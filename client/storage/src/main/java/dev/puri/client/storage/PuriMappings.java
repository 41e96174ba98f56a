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
 * Maps pURIs of several collections to two columns: the code of the collection, a number that the service chooses, and
 * the value to which the mapping of that collection converts the pURI.
 *
 * <pre>{@code
 * PuriMappings<Long> subjects = PuriMappings.of(1, USERS).and(2, TRACKS);
 * subjects.set(statement, 3, puri);      // parameters 3 and 4
 * }</pre>
 *
 * <p>The code of a collection must not change after rows were stored. Immutable and thread-safe.
 *
 * @param <C> Java type of the second column's values
 */
public final class PuriMappings<C> {
    /** The largest code, which is the maximum of a smallint. */
    public static final int MAX_CODE = Short.MAX_VALUE;

    private final ColumnType<C> column;
    private final Map<Integer, ColumnMapping<Puri, C>> mappingsByCode;
    private final Map<String, Integer> codesByCollection;

    /**
     * The values of both columns for a pURI.
     *
     * @param code code of the collection
     * @param value value of the pURI in the collection's mapping
     */
    public record Stored<C>(int code, C value) {}

    private PuriMappings(
            ColumnType<C> column,
            Map<Integer, ColumnMapping<Puri, C>> mappingsByCode,
            Map<String, Integer> codesByCollection) {
        this.column = column;
        this.mappingsByCode = mappingsByCode;
        this.codesByCollection = codesByCollection;
    }

    /**
     * Returns mappings with one collection.
     *
     * @param code 0 to {@value #MAX_CODE}
     * @throws IllegalArgumentException if the code is out of bounds or the mapping is not for a single collection
     */
    public static <C> PuriMappings<C> of(int code, ColumnMapping<Puri, C> mapping) {
        return new PuriMappings<>(mapping.column(), Map.of(), Map.of()).and(code, mapping);
    }

    /**
     * Returns these mappings with one more collection.
     *
     * @param code 0 to {@value #MAX_CODE}
     * @throws IllegalArgumentException if the code or the collection is already used, the code is out of bounds, the
     *     mapping is not for a single collection, or its column has another type
     */
    public PuriMappings<C> and(int code, ColumnMapping<Puri, C> mapping) {
        String collection = mapping.collection();
        if (collection == null) {
            throw new IllegalArgumentException(mapping + " is not a mapping for a single collection");
        }
        if (code < 0 || code > MAX_CODE) {
            throw new IllegalArgumentException("the code must be 0 to " + MAX_CODE + ", not " + code);
        }
        if (!mapping.column().toString().equals(column.toString())) {
            throw new IllegalArgumentException(mapping + " has another column type than " + column);
        }
        Map<Integer, ColumnMapping<Puri, C>> newMappings = new HashMap<>(mappingsByCode);
        ColumnMapping<Puri, C> existingMapping = newMappings.putIfAbsent(code, mapping);
        if (existingMapping != null) {
            throw new IllegalArgumentException("the code " + code + " is already used for " + existingMapping);
        }
        Map<String, Integer> newCodes = new HashMap<>(codesByCollection);
        Integer existingCode = newCodes.putIfAbsent(collection, code);
        if (existingCode != null) {
            throw new IllegalArgumentException(collection + " already has the code " + existingCode);
        }
        return new PuriMappings<>(column, Map.copyOf(newMappings), Map.copyOf(newCodes));
    }

    /**
     * Converts a pURI to the code and the value to store.
     *
     * @throws UnmappableNameException if the collection of the pURI has no mapping here, or the mapping refuses the
     *     pURI
     */
    public Stored<C> store(Puri puri) {
        Integer code = codesByCollection.get(puri.qualifiedCollection());
        if (code == null) {
            throw new UnmappableNameException("the collection of " + puri + " has no mapping in " + this, null);
        }
        return new Stored<>(code, mapping(code).store(puri));
    }

    /**
     * Converts a stored code and value to the pURI.
     *
     * @throws UnmappableNameException if no collection here has the code, or the mapping of the collection refuses the
     *     value
     */
    public Puri load(int code, C value) {
        return mapping(code).load(value);
    }

    private ColumnMapping<Puri, C> mapping(int code) {
        ColumnMapping<Puri, C> mapping = mappingsByCode.get(code);
        if (mapping == null) {
            throw new UnmappableNameException("no collection has the stored code " + code + " in " + this, null);
        }
        return mapping;
    }

    /**
     * Sets two parameters of a statement.
     *
     * @param index 1-based index of the code; the index of the value is one greater
     * @param puri null to set both parameters to NULL
     * @throws UnmappableNameException for the reasons of {@link #store}
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
     * @param index 1-based index of the code; the index of the value is one greater
     * @return the pURI; null if both columns are NULL
     * @throws UnmappableNameException for the reasons of {@link #load}, or if only one of the columns is NULL
     */
    public @Nullable Puri get(ResultSet rows, int index) throws SQLException {
        int code = rows.getInt(index);
        boolean isCodeNull = rows.wasNull();
        C value = column.get(rows, index + 1);
        if (isCodeNull != (value == null)) {
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

    /** Returns the mappings by code, for example <code>{1=music:users as bigint, 2=music:tracks as bigint}</code>. */
    @Override
    public String toString() {
        return new TreeMap<>(mappingsByCode).toString();
    }
}
