package dev.puri.client.storage.jaxrs;

import dev.puri.client.storage.CanonicalTextType;
import jakarta.ws.rs.ext.ParamConverter;
import jakarta.ws.rs.ext.ParamConverterProvider;
import jakarta.ws.rs.ext.Provider;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Converts parameters of Jakarta REST to pURIs, handles, owners, shards, prefixes and positions. For a malformed text
 * the converter throws an IllegalArgumentException. Jakarta REST then responds with status 404 if the text is in a path
 * or a query, and 400 if it is in a header.
 */
@Provider
public final class PuriParamConverters implements ParamConverterProvider {
    /** Called by the Jakarta REST container. */
    public PuriParamConverters() {}

    @Override
    public <T> @Nullable ParamConverter<T> getConverter(
            Class<T> type, @Nullable Type genericType, Annotation @Nullable [] annotations) {
        CanonicalTextType<T> textType = CanonicalTextType.of(type);
        return textType == null ? null : new TextConverter<>(textType);
    }

    private record TextConverter<T>(CanonicalTextType<T> textType) implements ParamConverter<T> {
        @Override
        public T fromString(@Nullable String text) {
            if (text == null) {
                throw new IllegalArgumentException(
                        "the text of a " + textType.javaType().getSimpleName() + " must not be null");
            }
            return textType.parse(text);
        }

        @Override
        public String toString(@Nullable T value) {
            if (value == null) {
                throw new IllegalArgumentException("the " + textType.javaType().getSimpleName() + " must not be null");
            }
            return value.toString();
        }
    }
}
