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
public record TextType<T>(Class<T> javaType, Function<String, T> parser) {
    /** The types that a service has in its API and tables. */
    public static final List<TextType<?>> ALL = List.of(
            new TextType<>(Puri.class, Puri::parse),
            new TextType<>(Handle.class, Handle::parse),
            new TextType<>(Owner.class, Owner::parse),
            new TextType<>(Shard.class, Shard::parse),
            new TextType<>(Prefix.class, Prefix::parse),
            new TextType<>(Position.class, Position::parse));

    /** Returns the type with this Java class; null if {@link #ALL} does not contain it. */
    @SuppressWarnings("unchecked")
    public static <T> @Nullable TextType<T> of(Class<T> type) {
        for (TextType<?> textType : ALL) {
            if (textType.javaType == type) {
                return (TextType<T>) textType;
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
