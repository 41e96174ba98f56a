package dev.puri.search.opensearch;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Secret;
import dev.puri.settings.Setting;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The settings of the OpenSearch engine. Their names begin with {@code PURI_OPENSEARCH_}. */
public record OpenSearchSettings(
        @Setting(
                doc = "URLs of the OpenSearch nodes, separated by commas; used if the engine is opensearch.",
                byDefault = "http://127.0.0.1:9200")
        List<String> opensearchUrl,

        @Setting(doc = "User name for OpenSearch's basic authentication.")
        Optional<String> opensearchUser,

        @Setting(doc = "Password of the OpenSearch user.") Optional<Secret> opensearchPassword,

        @Setting(doc = "Complete Authorization header for OpenSearch, instead of user and password.")
        Optional<Secret> opensearchAuthorization,

        @Setting(doc = "PEM file with the authorities that sign OpenSearch's certificates; Java's own by default.")
        Optional<Path> opensearchCa,

        @Setting(
                doc = "Alias of the serving index. Index names begin with it. Only one indexer may write it.",
                byDefault = "puri-search")
        String opensearchIndex,

        @Setting(
                doc = "Number of primary shards of an index; applies from the next reindexing on.",
                byDefault = "1",
                atLeast = "1",
                atMost = "1024")
        int opensearchShards,

        @Setting(
                doc = "Number of replicas of each shard; applies from the next reindexing on.",
                byDefault = "1",
                atLeast = "0",
                atMost = "10")
        int opensearchReplicas,

        @Setting(
                doc = "Time limit for OpenSearch to answer a search.",
                byDefault = "10s",
                atLeast = "100ms",
                atMost = "10m")
        Duration opensearchTimeout,

        @Setting(
                doc = "Time limit for OpenSearch to accept a batch, including all retries.",
                byDefault = "60s",
                atLeast = "1s",
                atMost = "10m")
        Duration opensearchWriteTimeout) {
    /** OpenSearch's rules for index names, but shorter, because the store appends suffixes. */
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
        boolean hasSecret = opensearchPassword.isPresent() || opensearchAuthorization.isPresent();
        if (opensearchUrl.isEmpty()) {
            mistakes.add("PURI_OPENSEARCH_URL: at least one URL is required");
        }
        for (String url : opensearchUrl) {
            String mistake = mistakeIn(url, hasSecret);
            if (!mistake.isEmpty()) {
                mistakes.add("PURI_OPENSEARCH_URL: \"" + url + "\" " + mistake);
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
                    + "\" must have 1 to 100 characters of a-z 0-9 _ - and begin with a letter or digit");
        }
        opensearchCa.ifPresent(file -> {
            try {
                Collection<? extends Certificate> ignored = certificates(file);
            } catch (IllegalArgumentException e) {
                mistakes.add(String.valueOf(e.getMessage()));
            }
        });
        InvalidSettingsException.throwIfAny(mistakes);
    }

    /**
     * Reads the certificates of {@link #opensearchCa}.
     *
     * @throws IllegalArgumentException if the file cannot be read, or contains no certificate
     */
    static Collection<? extends Certificate> certificates(Path file) {
        try (InputStream pem = Files.newInputStream(file)) {
            Collection<? extends Certificate> certificates =
                    CertificateFactory.getInstance("X.509").generateCertificates(pem);
            if (!certificates.isEmpty()) {
                return certificates;
            }
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "PURI_OPENSEARCH_CA: cannot read certificates from the PEM file " + file + ": " + e, e);
        }
        throw new IllegalArgumentException("PURI_OPENSEARCH_CA: the file " + file + " contains no certificate");
    }

    /** Returns the rest of a sentence that begins with the URL; empty if the URL is valid. */
    private static String mistakeIn(String text, boolean hasSecret) {
        URI url;
        try {
            url = URI.create(text);
        } catch (IllegalArgumentException e) {
            return "is not a URL";
        }
        boolean isHttps = "https".equals(url.getScheme());
        if ((!isHttps && !"http".equals(url.getScheme())) || url.getHost() == null) {
            return "does not start with http:// or https:// and a host";
        }
        if (url.getUserInfo() != null || url.getQuery() != null || url.getFragment() != null) {
            return "must have only scheme, host, port and path";
        }
        return hasSecret && !isHttps && !LOOPBACK.matcher(url.getHost()).matches()
                ? "would carry a password unencrypted"
                : "";
    }
}
