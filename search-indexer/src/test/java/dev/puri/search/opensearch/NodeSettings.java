package dev.puri.search.opensearch;

import dev.puri.settings.Settings;
import dev.puri.testkit.OpenSearchFixture;
import java.util.Map;

/** Settings of a store on a test node. */
final class NodeSettings {
    private NodeSettings() {}

    static OpenSearchSettings of(OpenSearchFixture node, String alias) {
        return of(node.url(), alias, "300s");
    }

    static OpenSearchSettings of(OpenSearchFixture node, String alias, String writeTimeout) {
        return of(node.url(), alias, writeTimeout);
    }

    static OpenSearchSettings of(String url, String alias, String writeTimeout) {
        return Settings.read(
                OpenSearchSettings.class,
                Map.of(),
                Map.of(
                        "PURI_OPENSEARCH_URL",
                        url,
                        "PURI_OPENSEARCH_INDEX",
                        alias,
                        "PURI_OPENSEARCH_SHARDS",
                        "2",
                        "PURI_OPENSEARCH_REPLICAS",
                        "0",
                        "PURI_OPENSEARCH_WRITE_TIMEOUT",
                        writeTimeout),
                null);
    }
}
