package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Settings;
import dev.puri.testkit.TestCertificates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OpenSearchSettingsTest {
    private static OpenSearchSettings read(Map<String, String> environment) {
        return Settings.read(OpenSearchSettings.class, Map.of(), environment, null);
    }

    @Test
    void everySettingHasADefault() {
        OpenSearchSettings settings = read(Map.of());
        assertThat(settings.opensearchUrl()).containsExactly("http://127.0.0.1:9200");
        assertThat(settings.opensearchIndex()).isEqualTo("puri-search");
    }

    @Test
    void aPasswordIsNotPrintedAndNotSentUnencrypted() {
        Map<String, String> user = Map.of("PURI_OPENSEARCH_USER", "puri", "PURI_OPENSEARCH_PASSWORD", "s3cret");
        assertThat(read(user).toString()).doesNotContain("s3cret");
        for (String url :
                new String[] {"http://search.example", "http://127.0.0.1.example", "http://localhost.example"}) {
            Map<String, String> remote = new java.util.HashMap<>(user);
            remote.put("PURI_OPENSEARCH_URL", url);
            assertThatThrownBy(() -> read(remote)).hasMessageContaining("would carry a password unencrypted");
            remote.put("PURI_OPENSEARCH_URL", url.replace("http:", "https:"));
            assertThat(read(remote).opensearchUser()).contains("puri");
        }
    }

    @Test
    void refusesAFileWithoutCertificates(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("ca.pem");
        Map<String, String> environment = Map.of("PURI_OPENSEARCH_CA", file.toString());
        assertThatThrownBy(() -> read(environment))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_OPENSEARCH_CA: cannot read certificates from the PEM file " + file);
        Files.writeString(file, "");
        assertThatThrownBy(() -> read(environment))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_OPENSEARCH_CA: the file " + file + " contains no certificate");

        TestCertificates.shared().certificate("ca", file);

        assertThat(read(environment).opensearchCa()).contains(file);
    }

    @Test
    void listsAllMistakes() {
        assertThatThrownBy(() -> read(Map.of(
                        "PURI_OPENSEARCH_URL", "ftp://a,http://u:p@b,http://c?d,not a url",
                        "PURI_OPENSEARCH_USER", "puri",
                        "PURI_OPENSEARCH_AUTHORIZATION", "Bearer x",
                        "PURI_OPENSEARCH_INDEX", "Puri*")))
                .isInstanceOfSatisfying(
                        InvalidSettingsException.class,
                        e -> assertThat(e.mistakes()).hasSize(7));
    }
}
