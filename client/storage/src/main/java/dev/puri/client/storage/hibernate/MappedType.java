package dev.puri.client.storage.hibernate;

import dev.puri.client.storage.CanonicalTextType;
import dev.puri.client.storage.ColumnMapping;
import dev.puri.client.storage.ColumnType;
import java.io.Serializable;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Objects;
import org.hibernate.dialect.Dialect;
import org.hibernate.engine.jdbc.Size;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.type.SqlTypes;
import org.hibernate.type.descriptor.WrapperOptions;
import org.hibernate.type.descriptor.jdbc.JdbcType;
import org.hibernate.usertype.EnhancedUserType;
import org.jspecify.annotations.Nullable;

/**
 * A Hibernate type that stores an attribute, or an id, with a {@link ColumnMapping}. Hibernate needs a class for each
 * mapping:
 *
 * <pre>{@code
 * final class UserId extends MappedType<Puri, Long> {
 *     UserId() {
 *         super(PuriColumns.of("music", "users").asLong());
 *     }
 * }
 *
 * @Id
 * @Type(UserId.class)
 * Puri id;
 * }</pre>
 *
 * <p>Supports Hibernate 6.6 and 7, which call different methods of the interface.
 *
 * @param <N> Java type of the attribute
 * @param <C> Java type of the column's values
 */
public abstract class MappedType<N, C> implements EnhancedUserType<N> {
    private final ColumnMapping<N, C> mapping;
    private final CanonicalTextType<N> textType;

    /** Creates a type that stores values with this mapping. */
    protected MappedType(ColumnMapping<N, C> mapping) {
        this.mapping = mapping;
        this.textType = Objects.requireNonNull(CanonicalTextType.of(mapping.javaType()));
    }

    @Override
    public int getSqlType() {
        return switch (mapping.column().kind()) {
            case BIGINT -> Types.BIGINT;
            case UUID -> SqlTypes.UUID;
            case TEXT -> Types.VARCHAR;
            case BINARY -> Types.BINARY;
        };
    }

    @Override
    public long getDefaultSqlLength(Dialect dialect, JdbcType jdbcType) {
        int length = mapping.column().length();
        return length == 0 ? Size.DEFAULT_LENGTH : length;
    }

    @Override
    public Class<N> returnedClass() {
        return mapping.javaType();
    }

    @Override
    public boolean equals(@Nullable N one, @Nullable N other) {
        return Objects.equals(one, other);
    }

    @Override
    public int hashCode(@Nullable N name) {
        return Objects.hashCode(name);
    }

    /** Called by Hibernate 7. */
    @Override
    public @Nullable N nullSafeGet(ResultSet rows, int column, WrapperOptions options) throws SQLException {
        return mapping.get(rows, column);
    }

    /** Called by Hibernate 6. */
    @Override
    @SuppressWarnings({"deprecation", "removal"})
    public @Nullable N nullSafeGet(
            ResultSet rows, int column, SharedSessionContractImplementor session, @Nullable Object owner)
            throws SQLException {
        return mapping.get(rows, column);
    }

    /** Called by Hibernate 7. */
    @Override
    public void nullSafeSet(PreparedStatement statement, @Nullable N name, int index, WrapperOptions options)
            throws SQLException {
        mapping.set(statement, index, name);
    }

    /** Called by Hibernate 6. */
    @Override
    @SuppressWarnings({"deprecation", "removal"})
    public void nullSafeSet(
            PreparedStatement statement, @Nullable N name, int index, SharedSessionContractImplementor session)
            throws SQLException {
        mapping.set(statement, index, name);
    }

    @Override
    public @Nullable N deepCopy(@Nullable N name) {
        return name;
    }

    @Override
    public boolean isMutable() {
        return false;
    }

    /** Returns the column's value, which is serializable, for the second-level cache. */
    @Override
    public @Nullable Serializable disassemble(@Nullable N name) {
        return name == null ? null : (Serializable) mapping.store(name);
    }

    @Override
    public @Nullable N assemble(@Nullable Serializable cached, @Nullable Object owner) {
        return cached == null ? null : mapping.load(mapping.column().javaType().cast(cached));
    }

    @Override
    public @Nullable N replace(@Nullable N detached, @Nullable N managed, @Nullable Object owner) {
        return detached;
    }

    /**
     * @throws UnsupportedOperationException if the column is binary, because binary literals differ between databases
     */
    @Override
    public String toSqlLiteral(N name) {
        if (mapping.column().kind() == ColumnType.Kind.BINARY) {
            throw new UnsupportedOperationException(mapping + " has no SQL literal; use a parameter");
        }
        String value = mapping.store(name).toString();
        return mapping.column().kind() == ColumnType.Kind.BIGINT ? value : "'" + value.replace("'", "''") + "'";
    }

    /** Returns the canonical text of the name, independent of the type of the column. */
    @Override
    public String toString(N name) {
        return name.toString();
    }

    @Override
    public N fromStringValue(CharSequence sequence) {
        return textType.parse(sequence.toString());
    }
}
