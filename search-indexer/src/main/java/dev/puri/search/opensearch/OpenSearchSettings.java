package dev.puri.search.opensearch;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Secret;
import dev.puri.settings.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Settings of the OpenSearch engine. */
public record OpenSearchSettings(
        @Setting(
                doc = "OpenSearch's nodes, URLs separated by commas, where that is the engine.",
                byDefault = "http://127.0.0.1:9200")
        List<String> opensearchUrl,

        @Setting(doc = "Who the indexer is to OpenSearch (basic authentication).")
        Optional<String> opensearchUser,

        @Setting(doc = "That user's password.") Optional<Secret> opensearchPassword,

        @Setting(doc = "A whole Authorization header for OpenSearch, instead of user and password.")
        Optional<Secret> opensearchAuthorization,

        @Setting(doc = "PEM file of the authorities that OpenSearch's certificates are of; Java's own by default.")
        Optional<Path> opensearchCa,

        @Setting(
                doc = "Alias of the index that serves; the indices' names begin with it. One indexer writes it.",
                byDefault = "puri-search")
        String opensearchIndex,

        @Setting(
                doc = "Shards of an index in OpenSearch; holds from the next reindexing on.",
                byDefault = "1",
                atLeast = "1",
                atMost = "1024")
        int opensearchShards,

        @Setting(
                doc = "Copies of each shard beside the first; holds from the next reindexing on.",
                byDefault = "1",
                atLeast = "0",
                atMost = "10")
        int opensearchReplicas,

        @Setting(
                doc = "How long OpenSearch may take to answer a search.",
                byDefault = "10s",
                atLeast = "100ms",
                atMost = "10m")
        Duration opensearchTimeout,

        @Setting(
                doc = "How long OpenSearch may take to take a batch, all tries together.",
                byDefault = "60s",
                atLeast = "1s",
                atMost = "10m")
        Duration opensearchWriteTimeout) {
    /** Index names by OpenSearch's rules, short enough for the suffixes of the store. */
    private static final Pattern INDEX_NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,99}");

    private static final Pattern LOOPBACK = Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[::1]");

    /**
     * Validates the settings.
     *
     * @throws IllegalArgumentException if a setting is invalid, or if a password would go unencrypted to another
     *     machine
     */
    public OpenSearchSettings {
        opensearchUrl = List.copyOf(opensearchUrl);
        List<String> mistakes = new ArrayList<>();
        boolean secret = opensearchPassword.isPresent() || opensearchAuthorization.isPresent();
        if (opensearchUrl.isEmpty()) {
            mistakes.add("PURI_OPENSEARCH_URL: there must be at least one URL");
        }
        for (String url : opensearchUrl) {
            String wrong = mistakeIn(url, secret);
            if (!wrong.isEmpty()) {
                mistakes.add("PURI_OPENSEARCH_URL: \"" + url + "\" " + wrong);
            }
        }
        if (opensearchUser.isPresent() != opensearchPassword.isPresent()) {
            mistakes.add("PURI_OPENSEARCH_USER and PURI_OPENSEARCH_PASSWORD: set both or neither");
        }
        if (opensearchUser.isPresent() && opensearchAuthorization.isPresent()) {
            mistakes.add("PURI_OPENSEARCH_AUTHORIZATION: cannot be set together with PURI_OPENSEARCH_USER");
        }
        if (!INDEX_NAME.matcher(opensearchIndex).matches()) {
            mistakes.add("PURI_OPENSEARCH_INDEX: \"" + opensearchIndex
                    + "\" is not 1 to 100 characters of a-z 0-9 _ -, the first a letter or digit");
        }
        InvalidSettingsException.throwIfAny(mistakes);
    }

    private static String mistakeIn(String text, boolean secret) {
        URI url;
        try {
            url = URI.create(text);
        } catch (IllegalArgumentException e) {
            return "is not a URL";
        }
        boolean https = "https".equals(url.getScheme());
        if ((!https && !"http".equals(url.getScheme())) || url.getHost() == null) {
            return "does not start with http:// or https:// and a host";
        }
        if (url.getUserInfo() != null || url.getQuery() != null || url.getFragment() != null) {
            return "has more than scheme, host, port and path";
        }
        return secret && !https && !LOOPBACK.matcher(url.getHost()).matches()
                ? "would carry a password unencrypted"
                : "";
    }
}
