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
public record CanonicalTextType<T>(Class<T> javaType, Function<String, T> parser) {
    /** The types that a service has in its API and tables. */
    public static final List<CanonicalTextType<?>> ALL = List.of(
            new CanonicalTextType<>(Puri.class, Puri::parse),
            new CanonicalTextType<>(Handle.class, Handle::parse),
            new CanonicalTextType<>(Owner.class, Owner::parse),
            new CanonicalTextType<>(Shard.class, Shard::parse),
            new CanonicalTextType<>(Prefix.class, Prefix::parse),
            new CanonicalTextType<>(Position.class, Position::parse));

    /** Returns the type with this Java class; null if {@link #ALL} does not contain it. */
    @SuppressWarnings("unchecked")
    public static <T> @Nullable CanonicalTextType<T> of(Class<T> type) {
        for (CanonicalTextType<?> textType : ALL) {
            if (textType.javaType == type) {
                return (CanonicalTextType<T>) textType;
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
