package dev.puri.client.storage.jaxrs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import jakarta.ws.rs.ext.ParamConverter;
import org.junit.jupiter.api.Test;

class PuriParamConvertersTest {
    private static <T> ParamConverter<T> converter(Class<T> type) {
        return new PuriParamConverters().getConverter(type, type, null);
    }

    @Test
    void parametersAreNames() {
        assertThat(converter(Puri.class).fromString("Music:Tracks:1")).isEqualTo(Puri.parse("music:tracks:1"));
        assertThat(converter(Puri.class).toString(Puri.parse("music:tracks:1"))).isEqualTo("music:tracks:1");
        assertThat(converter(Handle.class).fromString("TRK_4K7VX9TZ2NQR8W3"))
                .isEqualTo(new Handle("trk_4k7vx9tz2nqr8w3"));
        assertThat(converter(Position.class).fromString("3-1042")).isEqualTo(Position.parse("3-1042"));
    }

    @Test
    void otherParametersAreLeftToOthers() {
        assertThat(converter(String.class)).isNull();
    }

    @Test
    void malformedNamesAreRefused() {
        assertThatThrownBy(() -> converter(Puri.class).fromString("a:b")).isInstanceOf(InvalidNameException.class);
        assertThatThrownBy(() -> converter(Puri.class).fromString(null)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> converter(Puri.class).toString(null)).isInstanceOf(IllegalArgumentException.class);
    }
}
