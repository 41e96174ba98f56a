package dev.puri.schemas.serde;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a schema registry client, parsed from Confluent's configuration. Error messages contain no
 * credentials, so this class does not pass on the exceptions of parsers, which quote the input.
 *
 * @param endpoints base URLs of the schema registry, at least one; the client tries one after the other
 * @param connectTimeout time-out for establishing a connection
 * @param readTimeout time for the response; a request may take {@code connectTimeout} plus {@code readTimeout}
 * @param maxRetries how often the client tries all endpoints again after the first round
 * @param retryWait time before the first retry; doubled for each further retry
 * @param maxRetryWait maximum time before a retry
 * @param missingIdTtl how long the client caches that a schema id is unknown
 */
record SchemaRegistrySettings(
        List<Endpoint> endpoints,
        Duration connectTimeout,
        Duration readTimeout,
        int maxRetries,
        Duration retryWait,
        Duration maxRetryWait,
        Duration missingIdTtl) {
    static final String URL = "schema.registry.url";
    private static final String CREDENTIALS_SOURCE = "basic.auth.credentials.source";
    private static final String USER_INFO = "basic.auth.user.info";
    private static final String BEARER_SOURCE = "bearer.auth.credentials.source";
    private static final String BEARER_TOKEN = "bearer.auth.token";
    private static final int MAX_PORT = 65_535;
    private static final String SSL_PREFIX = "schema.registry.ssl.";

    /**
     * A base URL of Confluent's API.
     *
     * @param base the URL without user info and trailing slashes; used in requests and messages
     * @param authorization value of the Authorization header; null for no header
     */
    record Endpoint(String base, @Nullable String authorization) {
        @Override
        public String toString() {
            return base;
        }
    }

    static SchemaRegistrySettings of(Map<String, ?> configs) {
        for (String key : configs.keySet()) {
            if (key.startsWith(SSL_PREFIX)) {
                throw new ConfigException(key + " is not supported: https uses the JVM's trust store"
                        + " (javax.net.ssl.trustStore); only Confluent's own serializer reads this key");
            }
        }
        return new SchemaRegistrySettings(
                endpoints(configs),
                millis(configs, "http.connect.timeout.ms", 5_000),
                millis(configs, "http.read.timeout.ms", 10_000),
                number(configs, "max.retries", 3, 1_000),
                millis(configs, "retries.wait.ms", 1_000),
                millis(configs, "retries.max.wait.ms", 20_000),
                Duration.ofSeconds(number(configs, "missing.id.cache.ttl.sec", 5, Integer.MAX_VALUE)));
    }

    private static List<Endpoint> endpoints(Map<String, ?> configs) {
        String sharedAuthorization = sharedAuthorization(configs);
        List<Endpoint> endpoints = new ArrayList<>();
        for (String url : entries(configs.get(URL))) {
            endpoints.add(endpoint(url, sharedAuthorization));
        }
        if (endpoints.isEmpty()) {
            throw new ConfigException(
                    URL + " is missing; set it to the base URL of the schema registry's Confluent API, or to several"
                            + " URLs separated by commas");
        }
        return List.copyOf(endpoints);
    }

    private static Endpoint endpoint(String url, @Nullable String sharedAuthorization) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new ConfigException(
                    URL + " has an entry that is not a URL: " + e.getReason() + " at " + e.getIndex());
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!(scheme.equals("http") || scheme.equals("https")) || uri.getHost() == null) {
            throw new ConfigException(URL + " has an entry that is not http(s)://HOST[:PORT][/PATH]");
        }
        if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
            throw new ConfigException(URL + " has an entry whose port is not from 1 to " + MAX_PORT);
        }
        if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new ConfigException(URL + " has an entry with a query or fragment; a base URL must not have them");
        }
        String path = uri.getRawPath() == null ? "" : uri.getRawPath().replaceFirst("/+$", "");
        String base = scheme + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + path;
        String userInfo = uri.getUserInfo();
        if (sharedAuthorization != null || userInfo == null) {
            return new Endpoint(base, sharedAuthorization);
        }
        return new Endpoint(base, basic(userInfo, URL));
    }

    /** Returns the authorization for all endpoints, or null if each endpoint uses the user info of its URL. */
    private static @Nullable String sharedAuthorization(Map<String, ?> configs) {
        String source = text(configs, CREDENTIALS_SOURCE, "URL").toUpperCase(Locale.ROOT);
        if (!source.equals("URL") && !source.equals("USER_INFO")) {
            throw new ConfigException(CREDENTIALS_SOURCE + " must be URL or USER_INFO, not " + source);
        }
        String bearerSource = text(configs, BEARER_SOURCE, "STATIC_TOKEN").toUpperCase(Locale.ROOT);
        if (!bearerSource.equals("STATIC_TOKEN")) {
            throw new ConfigException(BEARER_SOURCE + " must be STATIC_TOKEN, not " + bearerSource);
        }
        String token = text(configs, BEARER_TOKEN, "");
        if (source.equals("URL")) {
            if (token.isEmpty()) {
                return null;
            }
            if (token.chars().anyMatch(c -> c <= ' ' || c > '~')) {
                throw new ConfigException(BEARER_TOKEN + " contains a character that is not allowed in a token");
            }
            return "Bearer " + token;
        }
        if (!token.isEmpty()) {
            throw new ConfigException(BEARER_TOKEN + " and " + USER_INFO + " must not both be set");
        }
        return basic(text(configs, USER_INFO, ""), USER_INFO);
    }

    private static String basic(String userInfo, String key) {
        if (userInfo.indexOf(':') < 1) {
            throw new ConfigException(key + " must have credentials of the form USER:PASSWORD");
        }
        return "Basic " + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8));
    }

    private static Duration millis(Map<String, ?> configs, String key, int defaultValue) {
        return Duration.ofMillis(number(configs, key, defaultValue, Integer.MAX_VALUE));
    }

    private static int number(Map<String, ?> configs, String key, int defaultValue, int max) {
        String text = text(configs, key, Integer.toString(defaultValue));
        try {
            int number = Integer.parseInt(text);
            if (number >= 0 && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, as is a number out of range.
        }
        throw new ConfigException(key + " must be a whole number from 0 to " + max + ", not " + text);
    }

    private static String text(Map<String, ?> configs, String key, String defaultValue) {
        Object value = configs.get(key);
        String text = value instanceof org.apache.kafka.common.config.types.Password password
                ? password.value().trim()
                : value == null ? "" : value.toString().trim();
        return text.isEmpty() ? defaultValue : text;
    }

    private static List<String> entries(@Nullable Object value) {
        List<String> trimmedEntries = new ArrayList<>();
        Iterable<?> entries = value instanceof Iterable<?> iterable
                ? iterable
                : value == null ? List.of() : List.of(value.toString().split(",", -1));
        for (Object entry : entries) {
            String trimmed = String.valueOf(entry).trim();
            if (!trimmed.isEmpty()) {
                trimmedEntries.add(trimmed);
            }
        }
        return trimmedEntries;
    }
}
