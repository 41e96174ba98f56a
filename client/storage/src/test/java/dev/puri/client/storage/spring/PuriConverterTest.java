package dev.puri.client.storage.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.storage.CanonicalTextType;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.core.convert.ConversionFailedException;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.core.convert.support.DefaultConversionService;

class PuriConverterTest {
    private static final DefaultConversionService CONVERSION = new DefaultConversionService();

    static {
        CONVERSION.addConverter(new PuriConverter());
    }

    @Test
    void textIsConvertedToNamesAndBack() {
        assertThat(CONVERSION.convert("Music:Tracks:1", Puri.class)).isEqualTo(Puri.parse("music:tracks:1"));
        assertThat(CONVERSION.convert("TRK_4K7VX9TZ2NQR8W3", Handle.class))
                .isEqualTo(new Handle("trk_4k7vx9tz2nqr8w3"));
        assertThat(CONVERSION.convert(Puri.parse("music:tracks:1"), String.class))
                .isEqualTo("music:tracks:1");
        for (CanonicalTextType<?> each : CanonicalTextType.ALL) {
            assertThat(CONVERSION.canConvert(String.class, each.javaType())).isTrue();
            assertThat(CONVERSION.canConvert(each.javaType(), String.class)).isTrue();
        }
    }

    @Test
    void aParameterMayBeAList() {
        assertThat(CONVERSION.convert(
                        "music:tracks:1,music:tracks:2",
                        TypeDescriptor.valueOf(String.class),
                        TypeDescriptor.collection(List.class, TypeDescriptor.valueOf(Puri.class))))
                .isEqualTo(List.of(Puri.parse("music:tracks:1"), Puri.parse("music:tracks:2")));
    }

    @Test
    void malformedNamesAreRefused() {
        assertThatThrownBy(() -> CONVERSION.convert("a b:c:d", Puri.class))
                .isInstanceOf(ConversionFailedException.class)
                .hasRootCauseMessage("\"a b:c:d\" at position 1: ' ' is not allowed unescaped; write it as %20");
    }
}
