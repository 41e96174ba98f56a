package dev.puri.search;

import dev.puri.settings.Setting;
import java.util.List;

/**
 * The setting of the search engine. This is a separate record, so that a wrong value is reported together with the
 * errors of all other settings.
 */
public record EngineSettings(
        @Setting(
                doc = "Search engine that stores the index: lucene (in this process) or opensearch.",
                byDefault = EngineSettings.LUCENE)
        String searchEngine) {
    static final String LUCENE = "lucene";
    static final String OPENSEARCH = "opensearch";

    /**
     * @throws IllegalArgumentException if there is no such engine
     */
    public EngineSettings {
        if (!List.of(LUCENE, OPENSEARCH).contains(searchEngine)) {
            throw new IllegalArgumentException(
                    "PURI_SEARCH_ENGINE must be " + LUCENE + " or " + OPENSEARCH + ", but is \"" + searchEngine + '"');
        }
    }

    boolean isOpenSearch() {
        return searchEngine.equals(OPENSEARCH);
    }
}
