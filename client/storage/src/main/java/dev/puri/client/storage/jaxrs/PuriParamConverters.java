package dev.puri.client.storage.jaxrs;

import dev.puri.client.storage.NameType;
import jakarta.ws.rs.ext.ParamConverter;
import jakarta.ws.rs.ext.ParamConverterProvider;
import jakarta.ws.rs.ext.Provider;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Lets parameters of Jakarta REST be pURIs, handles, owners, shards, prefixes and positions. Malformed text throws an
 * IllegalArgumentException, for which Jakarta REST answers 404 if it is in a path or a query, and 400 if it is in a header.
 */
@Provider
public final class PuriParamConverters implements ParamConverterProvider {
    /** For the container. */
    public PuriParamConverters() {}

    @Override
    public <T> @Nullable ParamConverter<T> getConverter(
            Class<T> type, @Nullable Type genericType, Annotation @Nullable [] annotations) {
        NameType<T> name = NameType.of(type);
        return name == null ? null : new TextConverter<>(name);
    }

    private record TextConverter<T>(NameType<T> name) implements ParamConverter<T> {
        @Override
        public T fromString(@Nullable String text) {
            if (text == null) {
                throw new IllegalArgumentException("no text of a " + name.type().getSimpleName());
            }
            return name.parse(text);
        }

        @Override
        public String toString(@Nullable T value) {
            if (value == null) {
                throw new IllegalArgumentException("no " + name.type().getSimpleName());
            }
            return value.toString();
        }
    }
}
