package dev.puri.client.storage;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The type of a column, for SQL and for JDBC.
 *
 * @param <C> Java type of the column's values
 */
public final class ColumnType<C> {
    static final ColumnType<Long> BIGINT = new ColumnType<>(Kind.BIGINT, Long.class, 0);
    static final ColumnType<UUID> UUID = new ColumnType<>(Kind.UUID, UUID.class, 0);

    /** The storage format of the values. */
    public enum Kind {
        /** A signed integer of 64 bits. */
        BIGINT,
        /** The type uuid of the database, which MySQL does not have. */
        UUID,
        /** ASCII text with a maximum number of characters. */
        TEXT,
        /** A fixed number of bytes. */
        BINARY
    }

    private final Kind kind;
    private final Class<C> javaType;
    private final int length;

    private ColumnType(Kind kind, Class<C> javaType, int length) {
        this.kind = kind;
        this.javaType = javaType;
        this.length = length;
    }

    /** Returns the type of ASCII text with a maximum number of characters, compared by character codes. */
    static ColumnType<String> text(int length) {
        return new ColumnType<>(Kind.TEXT, String.class, length);
    }

    /** Returns the type of byte strings with a fixed number of bytes, compared as unsigned bytes. */
    static ColumnType<byte[]> binary(int length) {
        return new ColumnType<>(Kind.BINARY, byte[].class, length);
    }

    /** The storage format of the values. */
    public Kind kind() {
        return kind;
    }

    /** The Java class of the values. */
    public Class<C> javaType() {
        return javaType;
    }

    /** The maximum number of characters, or the number of bytes; 0 if the type has no length. */
    public int length() {
        return length;
    }

    /**
     * Returns the SQL type. Text is compared by character codes; only in H2 the collation of the database applies.
     *
     * @throws IllegalArgumentException if the database does not have the type: MySQL has no type for uuids
     */
    public String sql(Dialect dialect) {
        return switch (kind) {
            case BIGINT -> "bigint";
            case UUID -> {
                if (dialect == Dialect.MYSQL) {
                    throw new IllegalArgumentException("MySQL has no type uuid; use binary(16) by asUuidBinary()");
                }
                yield "uuid";
            }
            case TEXT ->
                "varchar(" + length + ")"
                        + switch (dialect) {
                            case POSTGRESQL -> " collate \"C\"";
                            case MYSQL, MARIADB -> " character set ascii collate ascii_bin";
                            case H2 -> "";
                        };
            case BINARY -> dialect == Dialect.POSTGRESQL ? "bytea" : "binary(" + length + ")";
        };
    }

    void set(PreparedStatement statement, int index, @Nullable C value) throws SQLException {
        if (value == null) {
            statement.setNull(index, jdbcType());
        } else if (value instanceof Long number) {
            statement.setLong(index, number);
        } else if (value instanceof String text) {
            statement.setString(index, text);
        } else if (value instanceof byte[] bytes) {
            statement.setBytes(index, bytes);
        } else {
            statement.setObject(index, value);
        }
    }

    @Nullable
    C get(ResultSet rows, int column) throws SQLException {
        Object value = switch (kind) {
            case BIGINT -> rows.getLong(column);
            case UUID -> rows.getObject(column, UUID.class);
            case TEXT -> rows.getString(column);
            case BINARY -> rows.getBytes(column);
        };
        return rows.wasNull() ? null : javaType.cast(value);
    }

    private int jdbcType() {
        return switch (kind) {
            case BIGINT -> Types.BIGINT;
            case UUID -> Types.OTHER;
            case TEXT -> Types.VARCHAR;
            case BINARY -> Types.BINARY;
        };
    }

    /** Returns the kind and the length, for example {@code bigint} or {@code text(36)}. */
    @Override
    public String toString() {
        String name = switch (kind) {
            case BIGINT -> "bigint";
            case UUID -> "uuid";
            case TEXT -> "text";
            case BINARY -> "binary";
        };
        return length == 0 ? name : name + "(" + length + ")";
    }
}
