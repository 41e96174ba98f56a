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
 * The options of a {@link ResolverClient}. {@link #at} returns a builder with the defaults.
 *
 * @param addresses base URLs of the resolvers' internal listeners. The client tries them in this order, and uses the
 *     first that works
 * @param token bearer token of every request, visible ASCII characters; null for none
 * @param deadline time limit of a look-up. A look-up that waits for the event of a token may take longer by the time of
 *     the wait
 * @param connectTimeout time limit for opening a connection
 * @param maxWait maximum time that one request waits for the event of a token; at most {@code PURI_MAX_WAIT} of the
 *     resolvers. The client splits a longer wait into several requests
 * @param maxBatch maximum number of references in one request; at most {@code PURI_MAX_REFS} of the resolvers
 * @param maxJoinedRequests maximum number of concurrent requests with joined look-ups. Look-ups of single references
 *     without a token are joined into batches; while this many requests are running, further look-ups are collected for
 *     the next batch
 * @param maxDirectRequests maximum number of concurrent direct requests of each kind. Direct requests are not joined.
 *     The kinds are: requests that wait for the event of a token; and lists, and look-ups with a token, that do not
 *     wait. Further requests are queued in their order. Every request, direct or joined, uses its own connection
 * @param maxPending maximum number of references that are not yet answered; look-ups beyond this number fail
 * @param hedgeAfter time without a response after which the client sends the same request to another address too; null
 *     for never
 * @param hedgeShare maximum share of requests that may be sent to another address too, above 0 and at most 1
 * @param cacheSize maximum number of rows in the cache; 0 for no cache
 * @param replicaLag time after the change of a row during which verdicts on the row are not cached, because the
 *     resolver that answers may lag behind the resolver that reported the change. At least 6 s, because a resolver
 *     reports only a lag of more than 5 s. Zero is allowed only if there is one address, which one process serves
 * @param feedSilence maximum time for which the cache is used without a sign that the feed of changes is current. This
 *     is the maximum age of a cached verdict; longer than {@code PURI_CHANGES_HEARTBEAT} of the resolvers
 * @param tls for {@code https} addresses; null for the JVM's default
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
    /**
     * The smallest lag that a resolver always reports. It reports a lag of more than 5 s and measures the lag twice a
     * second; rounded up.
     */
    private static final Duration MIN_REPLICA_LAG = Duration.ofSeconds(6);

    /**
     * @throws IllegalArgumentException if an option is invalid; the message lists all mistakes
     */
    public ResolverOptions {
        addresses = List.copyOf(addresses);
        List<String> mistakes = new ArrayList<>();
        require(!addresses.isEmpty(), "addresses: none", mistakes);
        for (URI address : addresses) {
            require(
                    isBaseUrl(address),
                    "addresses: " + UserInfo.masked(address.toString())
                            + " is not a base URL such as http://resolver:8080",
                    mistakes);
        }
        require(addresses.stream().distinct().count() == addresses.size(), "addresses: contains a duplicate", mistakes);
        require(
                token == null || token.chars().allMatch(c -> c > ' ' && c <= '~'),
                "token: contains a character that is not visible ASCII, such as a line break at its end",
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
            require(addresses.size() > 1, "hedgeAfter: needs a second address", mistakes);
        }
        require(
                hedgeShare > 0 && hedgeShare <= 1,
                "hedgeShare: " + hedgeShare + " must be greater than 0 and at most 1",
                mistakes);
        require(cacheSize >= 0, "cacheSize: " + cacheSize + " is less than 0", mistakes);
        boolean isZeroLagAllowed = addresses.size() == 1 && replicaLag.isZero();
        require(
                isZeroLagAllowed || replicaLag.compareTo(MIN_REPLICA_LAG) >= 0,
                "replicaLag: " + replicaLag + " is less than " + MIN_REPLICA_LAG
                        + ", the smallest lag that a resolver always reports; zero is allowed only with one address served by"
                        + " one process",
                mistakes);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "invalid options of a resolver client:\n  " + String.join("\n  ", mistakes));
        }
    }

    private static boolean isBaseUrl(URI url) {
        return List.of("http", "https").contains(String.valueOf(url.getScheme()))
                && url.getHost() != null
                && url.getQuery() == null
                && url.getFragment() == null
                && url.getUserInfo() == null;
    }

    private static void requirePositive(String name, Duration value, List<String> mistakes) {
        require(!value.isNegative() && !value.isZero(), name + ": " + value + " is not positive", mistakes);
    }

    private static void require(boolean isValid, String mistake, List<String> mistakes) {
        if (!isValid) {
            mistakes.add(mistake);
        }
    }

    /**
     * Returns a builder with these addresses and the defaults, which match the defaults of a resolver. By default there
     * is no cache and no hedging.
     *
     * @param urls base URLs, with or without a slash at the end
     * @throws IllegalArgumentException if a text is not a URL
     */
    public static Builder at(String... urls) {
        return new Builder(List.of(urls));
    }

    /** Returns all options except tls. The token is masked. */
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

    /** Builds options; {@link ResolverOptions} documents each option. Not thread-safe. */
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

        /** Parses a URL. Drops the cause of a failure, because its message would contain a password in the URL. */
        private static URI uri(String url) {
            try {
                return new URI(url);
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException(e.getReason() + ": " + UserInfo.masked(url));
            }
        }

        /** No token by default. */
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

        /** 30 s by default, as the resolvers' {@code PURI_MAX_WAIT}. */
        public Builder maxWait(Duration time) {
            maxWait = time;
            return this;
        }

        /** 1000 by default, as the resolvers' {@code PURI_MAX_REFS}. */
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

        /** No hedging by default. */
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

        /** The JVM's default TLS context by default. */
        public Builder tls(SSLContext context) {
            tls = context;
            return this;
        }

        /**
         * Returns the options.
         *
         * @throws IllegalArgumentException if an option is invalid; the message lists all mistakes
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
