package dev.puri.client.storage.jpa;

import dev.puri.client.storage.ColumnMapping;
import jakarta.persistence.AttributeConverter;
import org.jspecify.annotations.Nullable;

/**
 * Converts an attribute with a mapping. Jakarta Persistence needs a class for each mapping:
 *
 * <pre>{@code
 * final class UserColumn extends MappedConverter<Puri, Long> {
 *     UserColumn() {
 *         super(PuriColumns.of("music", "users").asLong());
 *     }
 * }
 *
 * @Convert(converter = UserColumn.class)
 * Puri artist;
 * }</pre>
 *
 * <p>Jakarta Persistence does not convert ids. With Hibernate, {@link dev.puri.client.storage.hibernate.MappedType} does.
 *
 * @param <N> type of the attribute
 * @param <C> type of the column's values
 */
public abstract class MappedConverter<N, C> implements AttributeConverter<N, C> {
    private final ColumnMapping<N, C> mapping;

    /** Converts by this mapping. */
    protected MappedConverter(ColumnMapping<N, C> mapping) {
        this.mapping = mapping;
    }

    /**
     * @throws dev.puri.client.storage.UnmappableNameException when the column cannot represent the name
     */
    @Override
    public @Nullable C convertToDatabaseColumn(@Nullable N name) {
        return name == null ? null : mapping.store(name);
    }

    /**
     * @throws dev.puri.client.storage.UnmappableNameException if the value is not one of the mapping
     */
    @Override
    public @Nullable N convertToEntityAttribute(@Nullable C value) {
        return value == null ? null : mapping.load(value);
    }
}
