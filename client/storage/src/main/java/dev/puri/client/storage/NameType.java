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
 * A type of values with a canonical text, their {@code toString()}, which JSON, HTTP parameters and frameworks convert.
 *
 * @param type the class
 * @param parser parses a text; throws IllegalArgumentException if it is malformed
 */
public record NameType<T>(Class<T> type, Function<String, T> parser) {
    /** All types of names that a service uses. */
    public static final List<NameType<?>> ALL = List.of(
            new NameType<>(Puri.class, Puri::parse),
            new NameType<>(Handle.class, Handle::parse),
            new NameType<>(Owner.class, Owner::parse),
            new NameType<>(Shard.class, Shard::parse),
            new NameType<>(Prefix.class, Prefix::parse),
            new NameType<>(Position.class, Position::parse));

    /** The type of a class; null if it is not among {@link #ALL}. */
    @SuppressWarnings("unchecked")
    public static <T> @Nullable NameType<T> of(Class<T> type) {
        for (NameType<?> each : ALL) {
            if (each.type == type) {
                return (NameType<T>) each;
            }
        }
        return null;
    }

    /**
     * Parses a text.
     *
     * @throws IllegalArgumentException if it is malformed; the message says why
     */
    public T parse(String text) {
        return parser.apply(text);
    }
}
