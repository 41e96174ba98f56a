package dev.puri.client.storage.spring;

import dev.puri.client.storage.CanonicalTextType;
import org.springframework.core.convert.converter.ConverterRegistry;

/**
 * Converters with which Spring's conversion service reads and writes pURIs, handles, owners, shards, prefixes and
 * positions, for parameters of controllers and for properties.
 *
 * <pre>{@code
 * @Override
 * public void addFormatters(FormatterRegistry registry) { // of WebMvcConfigurer
 *     PuriConverters.addTo(registry);
 * }
 * }</pre>
 */
public final class PuriConverters {
    private PuriConverters() {}

    /** Adds converters between text and each type. */
    public static void addTo(ConverterRegistry registry) {
        for (CanonicalTextType<?> textType : CanonicalTextType.ALL) {
            add(registry, textType);
        }
    }

    private static <T> void add(ConverterRegistry registry, CanonicalTextType<T> textType) {
        registry.addConverter(String.class, textType.javaType(), textType::parse);
        registry.addConverter(textType.javaType(), String.class, Object::toString);
    }
}
