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
 * Parses Confluent's configuration of a schema registry's client. Messages contain no credentials, so parsers'
 * exceptions are not propagated.
 *
 * @param endpoints tried in turn, at least one
 * @param connectTimeout time-out of a connection
 * @param readTimeout time-out of a response once connected
 * @param maxRetries number of rounds through the endpoints after the first
 * @param retryWait time before the first retry; doubled for each further one
 * @param maxRetryWait maximum time before a retry
 * @param missingIdTtl how long an unknown id is cached
 */
record RegistrySettings(
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
    private static final String SSL_PREFIX = "schema.registry.ssl.";

    /**
     * A base URL of Confluent's API.
     *
     * @param base without user info and trailing slashes, for requests and messages
     * @param authorization value of the Authorization header; null for none
     */
    record Endpoint(String base, @Nullable String authorization) {
        @Override
        public String toString() {
            return base;
        }
    }

    static RegistrySettings of(Map<String, ?> configs) {
        for (String key : configs.keySet()) {
            if (key.startsWith(SSL_PREFIX)) {
                throw new ConfigException(key + " is not taken: https goes by the JVM's trust store"
                        + " (javax.net.ssl.trustStore); Confluent's own serializer reads this key");
            }
        }
        return new RegistrySettings(
                endpoints(configs),
                millis(configs, "http.connect.timeout.ms", 5_000),
                millis(configs, "http.read.timeout.ms", 10_000),
                number(configs, "max.retries", 3, 1_000),
                millis(configs, "retries.wait.ms", 1_000),
                millis(configs, "retries.max.wait.ms", 20_000),
                Duration.ofSeconds(number(configs, "missing.id.cache.ttl.sec", 5, Integer.MAX_VALUE)));
    }

    private static List<Endpoint> endpoints(Map<String, ?> configs) {
        String shared = sharedAuthorization(configs);
        List<Endpoint> endpoints = new ArrayList<>();
        for (String url : list(configs.get(URL))) {
            endpoints.add(endpoint(url, shared));
        }
        if (endpoints.isEmpty()) {
            throw new ConfigException(URL + " is missing: the base of the schema registry's Confluent API,"
                    + " or several separated by commas");
        }
        return List.copyOf(endpoints);
    }

    private static Endpoint endpoint(String url, @Nullable String shared) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            throw new ConfigException(URL + " has an entry that is no URL: " + e.getReason() + " at " + e.getIndex());
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!(scheme.equals("http") || scheme.equals("https")) || uri.getHost() == null) {
            throw new ConfigException(URL + " has an entry that is not http(s)://HOST[:PORT][/PATH]");
        }
        if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new ConfigException(URL + " has an entry with a query or fragment; it is a base for paths");
        }
        String path = uri.getRawPath() == null ? "" : uri.getRawPath().replaceFirst("/+$", "");
        String base = scheme + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + path;
        String userInfo = uri.getUserInfo();
        return new Endpoint(base, shared != null || userInfo == null ? shared : basic(userInfo, URL));
    }

    /** Returns the authorization for all endpoints; null to use the user info of each URL. */
    private static @Nullable String sharedAuthorization(Map<String, ?> configs) {
        String source = text(configs, CREDENTIALS_SOURCE, "URL").toUpperCase(Locale.ROOT);
        if (!source.equals("URL") && !source.equals("USER_INFO")) {
            throw new ConfigException(CREDENTIALS_SOURCE + " is URL or USER_INFO, not " + source);
        }
        String bearerSource = text(configs, BEARER_SOURCE, "STATIC_TOKEN").toUpperCase(Locale.ROOT);
        if (!bearerSource.equals("STATIC_TOKEN")) {
            throw new ConfigException(BEARER_SOURCE + " is STATIC_TOKEN, not " + bearerSource);
        }
        String token = text(configs, BEARER_TOKEN, "");
        if (source.equals("URL")) {
            if (token.isEmpty()) {
                return null;
            }
            if (token.chars().anyMatch(c -> c <= ' ' || c > '~')) {
                throw new ConfigException(BEARER_TOKEN + " has a character that no token has");
            }
            return "Bearer " + token;
        }
        if (!token.isEmpty()) {
            throw new ConfigException(BEARER_TOKEN + " and " + USER_INFO + " exclude each other");
        }
        return basic(text(configs, USER_INFO, ""), USER_INFO);
    }

    private static String basic(String userInfo, String key) {
        if (userInfo.indexOf(':') < 1) {
            throw new ConfigException(key + " has credentials that are not USER:PASSWORD");
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
            // Reported below, like a number out of range.
        }
        throw new ConfigException(key + " is a whole number from 0 to " + max + ", not " + text);
    }

    private static String text(Map<String, ?> configs, String key, String defaultValue) {
        Object value = configs.get(key);
        String text = value instanceof org.apache.kafka.common.config.types.Password password
                ? password.value().trim()
                : value == null ? "" : value.toString().trim();
        return text.isEmpty() ? defaultValue : text;
    }

    private static List<String> list(@Nullable Object value) {
        List<String> parts = new ArrayList<>();
        Iterable<?> raw = value instanceof Iterable<?> many
                ? many
                : value == null ? List.of() : List.of(value.toString().split(",", -1));
        for (Object part : raw) {
            String trimmed = String.valueOf(part).trim();
            if (!trimmed.isEmpty()) {
                parts.add(trimmed);
            }
        }
        return parts;
    }
}
