package dev.puri.spring.boot;

import dev.puri.client.storage.NameType;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.converter.GenericConverter;

/** Converts names from and to text. One bean for all types, which Boot adds to every conversion service. */
final class NameConverter implements GenericConverter {
    @Override
    public Set<ConvertiblePair> getConvertibleTypes() {
        Set<ConvertiblePair> pairs = new HashSet<>();
        for (NameType<?> each : NameType.ALL) {
            pairs.add(new ConvertiblePair(String.class, each.type()));
            pairs.add(new ConvertiblePair(each.type(), String.class));
        }
        return pairs;
    }

    @Override
    public @Nullable Object convert(@Nullable Object source, TypeDescriptor from, TypeDescriptor to) {
        if (source == null) {
            return null;
        }
        NameType<?> name = NameType.of(to.getType());
        return name == null ? source.toString() : name.parse(source.toString());
    }
}
