package dev.puri.search;

import dev.puri.settings.Setting;
import java.util.List;

/** The engine that keeps the index. A record of its own, so that its mistakes are reported together with all others. */
public record EngineSettings(
        @Setting(
                doc = "What keeps the index: lucene, in this process, or opensearch.",
                byDefault = EngineSettings.LUCENE)
        String searchEngine) {
    static final String LUCENE = "lucene";
    static final String OPENSEARCH = "opensearch";

    /**
     * @throws IllegalArgumentException when there is no such engine
     */
    public EngineSettings {
        if (!List.of(LUCENE, OPENSEARCH).contains(searchEngine)) {
            throw new IllegalArgumentException("PURI_SEARCH_ENGINE: \"" + searchEngine + "\" is not what it must be: "
                    + LUCENE + " or " + OPENSEARCH);
        }
    }

    boolean isOpenSearch() {
        return searchEngine.equals(OPENSEARCH);
    }
}
