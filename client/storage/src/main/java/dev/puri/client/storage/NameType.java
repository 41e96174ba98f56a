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
 * A value that has one canonical text, its {@code toString()}; what JSON, HTTP parameters and frameworks convert.
 *
 * @param type its class
 * @param parser reads the text; throws IllegalArgumentException when it is none
 */
public record NameType<T>(Class<T> type, Function<String, T> parser) {
    /** All that a service meets. */
    public static final List<NameType<?>> ALL = List.of(
            new NameType<>(Puri.class, Puri::parse),
            new NameType<>(Handle.class, Handle::parse),
            new NameType<>(Owner.class, Owner::parse),
            new NameType<>(Shard.class, Shard::parse),
            new NameType<>(Prefix.class, Prefix::parse),
            new NameType<>(Position.class, Position::parse));

    /** That of a class; null when it is none of {@link #ALL}. */
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
     * Reads a text.
     *
     * @throws IllegalArgumentException when it is none of this type; the message says why
     */
    public T parse(String text) {
        return parser.apply(text);
    }
}
