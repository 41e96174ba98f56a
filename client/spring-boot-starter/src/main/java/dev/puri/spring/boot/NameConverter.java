package dev.puri.spring.boot;

import dev.puri.client.storage.CanonicalTextType;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.GenericConverter;

/**
 * Converts pURIs, handles and their parts from and to text. Spring Boot uses this bean for configuration properties and
 * for the parameters of web requests.
 */
final class NameConverter implements GenericConverter {
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
