package dev.puri.spring.boot;

import dev.puri.client.resolve.ResolverOptions;
import dev.puri.schemas.serde.UserInfo;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * Settings of the registry's client. All mistakes in them are listed together when the application starts.
 *
 * @param source Service as readers of the log see it. The application's name unless set.
 * @param collections File of declarations, as "puri collections apply" takes it, which tells the namespaces that own a
 *     topic. Without it all events go to the shared topic.
 * @param kafka Brokers.
 * @param schemaRegistry Schema registry.
 * @param resolver Resolvers.
 * @param outbox Outbox.
 */
@ConfigurationProperties(prefix = "puri", ignoreUnknownFields = false)
public record PuriProperties(
        @Nullable String source,
        @Nullable Resource collections,
        @DefaultValue Kafka kafka,
        @DefaultValue SchemaRegistry schemaRegistry,
        @DefaultValue Resolver resolver,
        @DefaultValue Outbox outbox) {
    private static final Duration LONGEST = Duration.ofDays(365 * 100);

    /**
     * Brokers.
     *
     * @param bootstrapServers Brokers as host:port. Without them nothing is published.
     * @param properties Properties of the Kafka producer and of the serializer, under their own names.
     */
    public record Kafka(
            @DefaultValue List<String> bootstrapServers,
            @DefaultValue Map<String, String> properties) {
        public Kafka {
            bootstrapServers = List.copyOf(bootstrapServers);
            properties = Map.copyOf(properties);
        }

        /** Shows the properties without their values, which may be passwords. */
        @Override
        public String toString() {
            return "Kafka[bootstrapServers=" + UserInfo.masked(bootstrapServers.toString()) + ", properties="
                    + properties.keySet() + "]";
        }
    }

    /**
     * Schema registry.
     *
     * @param url Base URLs of the schema registry's Confluent API. The first that works is asked.
     */
    // A list for one more reason: Boot would convert the variable PURI_SCHEMA_REGISTRY of the puri command to a record
    // of a single text.
    public record SchemaRegistry(@DefaultValue List<String> url) {
        public SchemaRegistry {
            url = List.copyOf(url);
        }

        /** Masks the user info of URLs. */
        @Override
        public String toString() {
            return "SchemaRegistry[url=" + UserInfo.masked(url.toString()) + "]";
        }
    }

    /**
     * Resolvers.
     *
     * @param addresses Base URLs of resolvers' internal listeners. The first that works is asked. Without them nothing
     *     is resolved.
     * @param token Bearer token of every request. None unless set.
     * @param sslBundle SSL bundle for https addresses. The platform's trust unless set.
     * @param deadline Time limit of a look-up, without the wait for an event.
     * @param connectTimeout Time limit of one connection.
     * @param maxWait Longest wait for an event in one request. At most PURI_MAX_WAIT of the resolvers. A longer wait is asked for
     *     in several requests.
     * @param maxBatch Most references in one request. At most PURI_MAX_REFS of the resolvers.
     * @param maxJoinedRequests Most requests under way with joined single look-ups.
     * @param maxDirectRequests Most other requests under way.
     * @param maxPending Most references asked and not yet answered.
     * @param hedgeAfter Silence of one address after which another is asked the same. Never unless set.
     * @param hedgeShare Most second requests, as a share of all.
     * @param cache Cache of answers.
     */
    public record Resolver(
            @DefaultValue List<String> addresses,
            @Nullable String token,
            @Nullable String sslBundle,
            @DefaultValue("5s") Duration deadline,
            @DefaultValue("1s") Duration connectTimeout,
            @DefaultValue("30s") Duration maxWait,
            @DefaultValue("1000") int maxBatch,
            @DefaultValue("4") int maxJoinedRequests,
            @DefaultValue("256") int maxDirectRequests,
            @DefaultValue("20000") int maxPending,
            @Nullable Duration hedgeAfter,
            @DefaultValue("0.05") double hedgeShare,
            @DefaultValue Cache cache) {
        public Resolver {
            addresses = List.copyOf(addresses);
        }

        /**
         * Returns the client's options.
         *
         * @param tls null for the platform's
         * @throws IllegalArgumentException if there are mistakes; all are listed
         */
        ResolverOptions options(@Nullable SSLContext tls) {
            ResolverOptions.Builder options = ResolverOptions.at(addresses.toArray(String[]::new))
                    .token(token)
                    .deadline(bounded(deadline))
                    .connectTimeout(bounded(connectTimeout))
                    .maxWait(bounded(maxWait))
                    .maxBatch(maxBatch)
                    .maxJoinedRequests(maxJoinedRequests)
                    .maxDirectRequests(maxDirectRequests)
                    .maxPending(maxPending)
                    .hedgeShare(hedgeShare)
                    .cacheSize(cache.size)
                    .replicaLag(bounded(cache.replicaLag))
                    .feedSilence(bounded(cache.feedSilence));
            if (hedgeAfter != null) {
                options.hedgeAfter(bounded(hedgeAfter));
            }
            if (tls != null) {
                options.tls(tls);
            }
            return options.build();
        }

        /** Masks the token and the user info of addresses. */
        @Override
        public String toString() {
            return "Resolver[addresses=" + UserInfo.masked(addresses.toString()) + ", token="
                    + (token == null ? "none" : "***") + "]";
        }
    }

    /**
     * Cache of a resolver's answers, kept true by the feed of changes.
     *
     * @param size Most rows in the cache. 0 for no cache, and no feed.
     * @param replicaLag Time after a row's change in which no answer about it is cached. Zero only for one address that is
     *     one process.
     * @param feedSilence Time for which the cache is used without a sign that the feed is current.
     */
    public record Cache(
            @DefaultValue("0") int size,
            @DefaultValue("10s") Duration replicaLag,
            @DefaultValue("45s") Duration feedSilence) {}

    /**
     * Outbox in the application's database, if client-outbox is on the class path.
     *
     * @param enabled Whether there is an outbox.
     * @param dialect Database of the outbox: postgresql, mysql or mariadb. The database is asked at start unless set.
     * @param table Table of the outbox.
     * @param createTables Whether the tables are created at start if they are missing. For development; use a migration in
     *     production.
     * @param relay Relay of the outbox.
     */
    public record Outbox(
            @DefaultValue("true") boolean enabled,
            @Nullable String dialect,
            @DefaultValue("puri_outbox") String table,
            @DefaultValue("false") boolean createTables,
            @DefaultValue Relay relay) {}

    /**
     * Relay that publishes the rows of the outbox.
     *
     * @param enabled Whether this application runs a relay. One instance of all leads.
     * @param pollInterval Time between two looks at an empty table.
     * @param sweepInterval Time between two looks at the table although a feed reports its rows.
     * @param firstBackoff Wait after a first failure, doubled by each further one up to 60 s.
     * @param maxLag Age of the oldest waiting row from which health is DOWN.
     */
    public record Relay(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("50ms") Duration pollInterval,
            @DefaultValue("30s") Duration sweepInterval,
            @DefaultValue("1s") Duration firstBackoff,
            @DefaultValue("1m") Duration maxLag) {}

    /** Limits a duration to what a timer can count: 2^63 ns are 292 years. */
    static Duration bounded(Duration time) {
        return time.compareTo(LONGEST) > 0 ? LONGEST : time;
    }

    /** The producer's properties, as {@code IdentityPublisher} and {@code OutboxRelay} take them. */
    public Map<String, Object> producer() {
        Map<String, Object> all = new LinkedHashMap<>(kafka.properties);
        all.put("bootstrap.servers", String.join(",", kafka.bootstrapServers));
        if (!schemaRegistry.url.isEmpty()) {
            all.put("schema.registry.url", String.join(",", schemaRegistry.url));
        }
        return all;
    }
}
