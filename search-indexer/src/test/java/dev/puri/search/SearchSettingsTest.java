package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Settings;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SearchSettingsTest {
    @Test
    void reportsAnUnknownEngineWithAllOtherErrors() {
        Map<String, String> environment = Map.of(
                "PURI_SEARCH_ENGINE", "elastic",
                "PURI_HTTP_PORT", "99999",
                "PURI_OPENSEARCH_SHARDS", "0");
        assertThatThrownBy(() -> Settings.read(SearchSettings.class, Map.of(), environment, null))
                .isInstanceOf(InvalidSettingsException.class)
                .message()
                .contains("PURI_SEARCH_ENGINE", "elastic", "lucene or opensearch")
                .contains("PURI_HTTP_PORT", "PURI_OPENSEARCH_SHARDS");
    }
}
