package dev.puri.client.storage.spring;

import dev.puri.client.storage.NameType;
import org.springframework.core.convert.converter.ConverterRegistry;

/**
 * Lets Spring's conversion service read and write pURIs, handles, owners, shards, prefixes and positions: parameters of
 * controllers, and properties.
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

    /** Adds the converters between text and each name. */
    public static void addTo(ConverterRegistry registry) {
        for (NameType<?> each : NameType.ALL) {
            add(registry, each);
        }
    }

    private static <T> void add(ConverterRegistry registry, NameType<T> name) {
        registry.addConverter(String.class, name.type(), name::parse);
        registry.addConverter(name.type(), String.class, Object::toString);
    }
}
