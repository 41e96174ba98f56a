package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Settings;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TlsSettingsTest {
    @Test
    void eachInvalidCombinationIsAMistakeOfItsOwn() {
        Map<String, String> environment =
                Map.of("PURI_TLS_CERTIFICATE", "server.pem", "PURI_TLS_CLIENT_AUTH", "required");

        InvalidSettingsException invalid = catchThrowableOfType(
                InvalidSettingsException.class, () -> Settings.read(TlsSettings.class, Map.of(), environment, null));

        assertThat(invalid.mistakes())
                .containsExactly(
                        "PURI_TLS_CERTIFICATE and PURI_TLS_KEY: set both or neither",
                        "PURI_TLS_CLIENT_AUTH: \"required\" needs PURI_TLS_CERTIFICATE and PURI_TLS_CLIENT_CA");
    }
}
