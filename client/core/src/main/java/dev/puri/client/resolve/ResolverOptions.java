package dev.puri.client.resolve;

import dev.puri.schemas.serde.UserInfo;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The options of a {@link ResolverClient}; {@link #at} begins with the defaults.
 *
 * @param addresses base URLs of resolvers' internal listeners; the first that works is asked
 * @param token bearer token of every request, of visible ASCII characters; null for none
 * @param deadline of a look-up, to which the wait for a token's event is added
 * @param connectTimeout of one connection
 * @param maxWait longest wait for a token's event in one request; at most {@code PURI_MAX_WAIT} of the resolvers. A longer wait
 *     is asked for in several requests
 * @param maxBatch most references in one request; at most {@code PURI_MAX_REFS} of the resolvers
 * @param maxJoinedRequests most requests under way with joined single look-ups; more look-ups are gathered meanwhile
 * @param maxDirectRequests most other requests under way, of each of two kinds: those that wait for a token's event, and lists
 *     and look-ups with a token that do not wait. More of them wait in their order. Each has a connection of its own, and so has
 *     each of the joined ones
 * @param maxPending most references asked and not yet answered
 * @param hedgeAfter how long one address may be silent before another is asked the same; null for never
 * @param hedgeShare most second requests, as a share of all
 * @param cacheSize most rows in the cache; 0 for no cache
 * @param replicaLag how long after the change of a row no answer about it is cached, because the resolver that answers may
 *     not be the one that reported the change. More than the 5 s from which resolvers report their lag. Zero only for one address
 *     that is one process
 * @param feedSilence how long the cache is used without a sign that the feed of changes is current, which bounds how old its
 *     answers can be; more than the resolvers' {@code PURI_CHANGES_HEARTBEAT}
 * @param tls for {@code https} addresses; null for the platform's
 */
public record ResolverOptions(
        List<URI> addresses,
        @Nullable String token,
        Duration deadline,
        Duration connectTimeout,
        Duration maxWait,
        int maxBatch,
        int maxJoinedRequests,
        int maxDirectRequests,
        int maxPending,
        @Nullable Duration hedgeAfter,
        double hedgeShare,
        int cacheSize,
        Duration replicaLag,
        Duration feedSilence,
        @Nullable SSLContext tls) {
    /** From this lag on, every answer reports it: resolvers report lags of more than 5 s, and check twice a second. */
    private static final Duration REPORTED_LAG = Duration.ofSeconds(6);

    /**
     * @throws IllegalArgumentException that lists all mistakes
     */
    public ResolverOptions {
        addresses = List.copyOf(addresses);
        List<String> mistakes = new ArrayList<>();
        require(!addresses.isEmpty(), "addresses: none", mistakes);
        for (URI each : addresses) {
            require(
                    isBase(each),
                    "addresses: " + UserInfo.masked(each.toString()) + " is no base URL such as http://resolver:8080",
                    mistakes);
        }
        require(addresses.stream().distinct().count() == addresses.size(), "addresses: one is there twice", mistakes);
        require(
                token == null || token.chars().allMatch(each -> each > ' ' && each <= '~'),
                "token: has a character that is no visible ASCII, such as a line break at its end",
                mistakes);
        requirePositive("deadline", deadline, mistakes);
        requirePositive("connectTimeout", connectTimeout, mistakes);
        require(maxWait.compareTo(Duration.ofMillis(1)) >= 0, "maxWait: " + maxWait + " is less than 1 ms", mistakes);
        requirePositive("feedSilence", feedSilence, mistakes);
        require(maxBatch >= 1 && maxBatch <= 100_000, "maxBatch: " + maxBatch + " is not 1 to 100000", mistakes);
        require(maxJoinedRequests >= 1, "maxJoinedRequests: " + maxJoinedRequests + " is less than 1", mistakes);
        require(maxDirectRequests >= 1, "maxDirectRequests: " + maxDirectRequests + " is less than 1", mistakes);
        require(maxPending >= 1, "maxPending: " + maxPending + " is less than 1", mistakes);
        if (hedgeAfter != null) {
            requirePositive("hedgeAfter", hedgeAfter, mistakes);
            require(addresses.size() > 1, "hedgeAfter: there is no second address to ask", mistakes);
        }
        require(
                hedgeShare > 0 && hedgeShare <= 1,
                "hedgeShare: " + hedgeShare + " is not above 0 and up to 1",
                mistakes);
        require(cacheSize >= 0, "cacheSize: " + cacheSize + " is less than 0", mistakes);
        boolean isOneAddress = addresses.size() == 1 && replicaLag.isZero();
        require(
                isOneAddress || replicaLag.compareTo(REPORTED_LAG) >= 0,
                "replicaLag: " + replicaLag + " is less than " + REPORTED_LAG
                        + ", from which on a resolver reports that it is behind; zero is for one address that is one process",
                mistakes);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "options that a resolver client cannot take:\n  " + String.join("\n  ", mistakes));
        }
    }

    private static boolean isBase(URI url) {
        return List.of("http", "https").contains(String.valueOf(url.getScheme()))
                && url.getHost() != null
                && url.getQuery() == null
                && url.getFragment() == null
                && url.getUserInfo() == null;
    }

    private static void requirePositive(String name, Duration value, List<String> mistakes) {
        require(!value.isNegative() && !value.isZero(), name + ": " + value + " is not positive", mistakes);
    }

    private static void require(boolean holds, String mistake, List<String> mistakes) {
        if (!holds) {
            mistakes.add(mistake);
        }
    }

    /**
     * Begins with these addresses, no cache, no hedging, and otherwise with defaults that fit those of a resolver.
     *
     * @param urls base URLs, with or without a slash at the end
     * @throws IllegalArgumentException if one is no URL
     */
    public static Builder at(String... urls) {
        return new Builder(List.of(urls));
    }

    /** All options but the token, which is secret. */
    @Override
    public String toString() {
        return "ResolverOptions[addresses=" + addresses + ", token=" + (token == null ? "none" : "***") + ", deadline="
                + deadline + ", connectTimeout=" + connectTimeout + ", maxWait=" + maxWait + ", maxBatch=" + maxBatch
                + ", maxJoinedRequests="
                + maxJoinedRequests + ", maxDirectRequests=" + maxDirectRequests + ", maxPending=" + maxPending
                + ", hedgeAfter=" + hedgeAfter + ", hedgeShare="
                + hedgeShare + ", cacheSize=" + cacheSize + ", replicaLag=" + replicaLag + ", feedSilence="
                + feedSilence + "]";
    }

    /** Options that are not complete yet; the record says what each means. Not thread-safe. */
    public static final class Builder {
        private final List<URI> addresses;
        private @Nullable String token;
        private Duration deadline = Duration.ofSeconds(5);
        private Duration connectTimeout = Duration.ofSeconds(1);
        private Duration maxWait = Duration.ofSeconds(30);
        private int maxBatch = 1000;
        private int maxJoinedRequests = 4;
        private int maxDirectRequests = 256;
        private int maxPending = 20_000;
        private @Nullable Duration hedgeAfter;
        private double hedgeShare = 0.05;
        private int cacheSize;
        private Duration replicaLag = Duration.ofSeconds(10);
        private Duration feedSilence = Duration.ofSeconds(45);
        private @Nullable SSLContext tls;

        private Builder(List<String> urls) {
            addresses = urls.stream()
                    .map(url -> uri(url.endsWith("/") ? url.substring(0, url.length() - 1) : url))
                    .toList();
        }

        /** Drops the cause, whose message has the URL with its password. */
        private static URI uri(String url) {
            try {
                return new URI(url);
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException(e.getReason() + ": " + UserInfo.masked(url));
            }
        }

        /** None by default. */
        public Builder token(@Nullable String bearer) {
            token = bearer;
            return this;
        }

        /** 5 s by default. */
        public Builder deadline(Duration time) {
            deadline = time;
            return this;
        }

        /** 1 s by default. */
        public Builder connectTimeout(Duration time) {
            connectTimeout = time;
            return this;
        }

        /** 30 s by default, as is {@code PURI_MAX_WAIT}. */
        public Builder maxWait(Duration time) {
            maxWait = time;
            return this;
        }

        /** 1000 by default, as is {@code PURI_MAX_REFS}. */
        public Builder maxBatch(int refs) {
            maxBatch = refs;
            return this;
        }

        /** 4 by default. */
        public Builder maxJoinedRequests(int requests) {
            maxJoinedRequests = requests;
            return this;
        }

        /** 256 by default. */
        public Builder maxDirectRequests(int requests) {
            maxDirectRequests = requests;
            return this;
        }

        /** 20,000 by default. */
        public Builder maxPending(int refs) {
            maxPending = refs;
            return this;
        }

        /** Never by default. */
        public Builder hedgeAfter(Duration silence) {
            hedgeAfter = silence;
            return this;
        }

        /** 0.05 by default. */
        public Builder hedgeShare(double share) {
            hedgeShare = share;
            return this;
        }

        /** No cache by default. */
        public Builder cacheSize(int rows) {
            cacheSize = rows;
            return this;
        }

        /** 10 s by default. */
        public Builder replicaLag(Duration lag) {
            replicaLag = lag;
            return this;
        }

        /** 45 s by default. */
        public Builder feedSilence(Duration silence) {
            feedSilence = silence;
            return this;
        }

        /** The platform's by default. */
        public Builder tls(SSLContext context) {
            tls = context;
            return this;
        }

        /**
         * The options.
         *
         * @throws IllegalArgumentException that lists all mistakes
         */
        public ResolverOptions build() {
            return new ResolverOptions(
                    addresses,
                    token,
                    deadline,
                    connectTimeout,
                    maxWait,
                    maxBatch,
                    maxJoinedRequests,
                    maxDirectRequests,
                    maxPending,
                    hedgeAfter,
                    hedgeShare,
                    cacheSize,
                    replicaLag,
                    feedSilence,
                    tls);
        }
    }
}
