package dev.puri.client.storage.jpa;

import dev.puri.client.storage.ColumnMapping;
import jakarta.persistence.AttributeConverter;
import org.jspecify.annotations.Nullable;

/**
 * A converter that stores an attribute with a {@link ColumnMapping}. Jakarta Persistence needs a class for each
 * mapping:
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
 * <p>Jakarta Persistence does not convert ids. Hibernate does, with {@link
 * dev.puri.client.storage.hibernate.MappedType}.
 *
 * @param <N> Java type of the attribute
 * @param <C> Java type of the column's values
 */
public abstract class MappedConverter<N, C> implements AttributeConverter<N, C> {
    private final ColumnMapping<N, C> mapping;

    /** Creates a converter that uses this mapping. */
    protected MappedConverter(ColumnMapping<N, C> mapping) {
        this.mapping = mapping;
    }

    /**
     * @throws dev.puri.client.storage.UnmappableNameException if the column cannot represent the name
     */
    @Override
    public @Nullable C convertToDatabaseColumn(@Nullable N name) {
        return name == null ? null : mapping.store(name);
    }

    /**
     * @throws dev.puri.client.storage.UnmappableNameException if the value is not valid for the mapping
     */
    @Override
    public @Nullable N convertToEntityAttribute(@Nullable C value) {
        return value == null ? null : mapping.load(value);
    }
}
