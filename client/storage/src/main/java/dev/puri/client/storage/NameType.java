package dev.puri.client.storage;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A Java type whose values have a canonical text, the result of {@code toString()}. Used to convert values in JSON,
 * HTTP parameters and frameworks.
 *
 * @param javaType the class
 * @param parser parses a text; throws an IllegalArgumentException if the text is malformed
 */
public record NameType<T>(Class<T> javaType, Function<String, T> parser) {
    /** All types that a service uses. */
    public static final List<NameType<?>> ALL = List.of(
            new NameType<>(Puri.class, Puri::parse),
            new NameType<>(Handle.class, Handle::parse),
            new NameType<>(Owner.class, Owner::parse),
            new NameType<>(Shard.class, Shard::parse),
            new NameType<>(Prefix.class, Prefix::parse),
            new NameType<>(Position.class, Position::parse));

    /** Returns the type with this Java class; null if {@link #ALL} does not contain it. */
    @SuppressWarnings("unchecked")
    public static <T> @Nullable NameType<T> of(Class<T> type) {
        for (NameType<?> nameType : ALL) {
            if (nameType.javaType == type) {
                return (NameType<T>) nameType;
            }
        }
        return null;
    }

    /**
     * Parses a text.
     *
     * @throws IllegalArgumentException if the text is malformed; the message says why
     */
    public T parse(String text) {
        return parser.apply(text);
    }
}
