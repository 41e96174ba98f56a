package dev.puri.client.storage.spring;

import dev.puri.client.storage.CanonicalTextType;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.GenericConverter;

/**
 * Converts pURIs, handles, owners, shards, prefixes and positions from and to text, for parameters of controllers and
 * for properties. The Spring Boot starter adds it.
 *
 * <pre>{@code
 * @Override
 * public void addFormatters(FormatterRegistry registry) { // of WebMvcConfigurer
 *     registry.addConverter(new PuriConverter());
 * }
 * }</pre>
 */
public final class PuriConverter implements GenericConverter {
    @Override
    public Set<ConvertiblePair> getConvertibleTypes() {
        Set<ConvertiblePair> pairs = new HashSet<>();
        for (CanonicalTextType<?> textType : CanonicalTextType.ALL) {
            pairs.add(new ConvertiblePair(String.class, textType.javaType()));
            pairs.add(new ConvertiblePair(textType.javaType(), String.class));
        }
        return pairs;
    }

    @Override
    public @Nullable Object convert(@Nullable Object source, TypeDescriptor from, TypeDescriptor to) {
        if (source == null) {
            return null;
        }
        CanonicalTextType<?> type = CanonicalTextType.of(to.getType());
        return type == null ? source.toString() : type.parse(source.toString());
    }
}
