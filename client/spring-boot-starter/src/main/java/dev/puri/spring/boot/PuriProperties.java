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
 * The settings of the client of the identity registry. If settings are invalid, the application does not start and
 * lists all mistakes together.
 *
 * @param source Name of this service, which each event contains. Default is spring.application.name.
 * @param collections File with declarations of collections, in the format of "puri collections apply". It says which
 *     namespaces have their own topic. Without it all events go to the shared topic.
 * @param kafka Settings of the Kafka producer.
 * @param schemaRegistry Settings of the schema registry's client.
 * @param resolver Settings of the resolver client.
 * @param outbox Settings of the outbox.
 */
@ConfigurationProperties(prefix = "puri", ignoreUnknownFields = false)
public record PuriProperties(
        @Nullable String source,
        @Nullable Resource collections,
        @DefaultValue Kafka kafka,
        @DefaultValue SchemaRegistry schemaRegistry,
        @DefaultValue Resolver resolver,
        @DefaultValue Outbox outbox) {
    private static final Duration MAX_DURATION = Duration.ofDays(365 * 100);

    /**
     * Settings of the Kafka producer.
     *
     * @param bootstrapServers Brokers as host:port. Without brokers there is no publisher.
     * @param properties Properties of the Kafka producer and of the serializer, with their original names.
     */
    public record Kafka(
            @DefaultValue List<String> bootstrapServers,
            @DefaultValue Map<String, String> properties) {
        public Kafka {
            bootstrapServers = List.copyOf(bootstrapServers);
            properties = Map.copyOf(properties);
        }

        /** Returns the properties without their values, which may be passwords. */
        @Override
        public String toString() {
            return "Kafka[bootstrapServers=" + UserInfo.masked(bootstrapServers.toString()) + ", properties="
                    + properties.keySet() + "]";
        }
    }

    /**
     * Settings of the schema registry's client.
     *
     * @param url Base URLs of the schema registry's Confluent API. The client tries them in this order and uses the
     *     first that works.
     */
    // The component must be a list. If it were a String, Spring Boot would pass the value of PURI_SCHEMA_REGISTRY, an
    // environment variable of the puri command, to the constructor.
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
     * Settings of the resolver client.
     *
     * @param addresses Base URLs of the resolvers' internal listeners. The client tries them in this order and uses the
     *     first that works. Without addresses there is no resolver client.
     * @param token Bearer token of every request. Default is no token.
     * @param sslBundle SSL bundle for https addresses. Default is the JVM's trust store.
     * @param deadline Time limit of a look-up, in addition to any wait for an event.
     * @param connectTimeout Time limit for opening a connection.
     * @param maxWait Maximum time that one request waits for an event. At most PURI_MAX_WAIT of the resolvers. The
     *     client splits a longer wait into several requests.
     * @param maxBatch Maximum number of references in one request. At most PURI_MAX_REFS of the resolvers.
     * @param maxJoinedRequests Maximum number of concurrent requests that join look-ups of single references into
     *     batches.
     * @param maxDirectRequests Maximum number of concurrent requests that are not joined. It applies to requests that
     *     wait for an event, and separately to requests that do not wait.
     * @param maxPending Maximum number of references that are not yet answered.
     * @param hedgeAfter Time without a response after which the request is also sent to another address. Default is
     *     never.
     * @param hedgeShare Maximum share of requests that are also sent to another address.
     * @param cache Settings of the cache.
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
         * @param tls null for the JVM's default
         * @throws IllegalArgumentException if options are invalid; the message lists all mistakes
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
     * Settings of the cache of look-ups. The feed of changes removes changed rows from the cache.
     *
     * @param size Maximum number of rows in the cache. 0 for no cache and no feed.
     * @param replicaLag Time after the change of a row during which the row is not cached, because another resolver may
     *     still return the old row. Zero is allowed only with one address that one process serves.
     * @param feedSilence Maximum time for which the cache is used without a sign that the feed of changes is current.
     */
    public record Cache(
            @DefaultValue("0") int size,
            @DefaultValue("10s") Duration replicaLag,
            @DefaultValue("45s") Duration feedSilence) {}

    /**
     * Settings of the outbox in the application's database. They apply if client-outbox is on the class path.
     *
     * @param enabled Whether there is an outbox.
     * @param dialect Database of the outbox: postgresql, mysql or mariadb. Default is detected from the database at
     *     start.
     * @param table Name of the outbox table.
     * @param createTables Whether missing tables are created at start. For development; use a migration in production.
     * @param relay Settings of the relay.
     */
    public record Outbox(
            @DefaultValue("true") boolean enabled,
            @Nullable String dialect,
            @DefaultValue("puri_outbox") String table,
            @DefaultValue("false") boolean createTables,
            @DefaultValue Relay relay) {}

    /**
     * Settings of the relay, which publishes the events in the outbox.
     *
     * @param enabled Whether this application runs a relay. Among all instances only one, the leader, publishes.
     * @param pollInterval Time between two reads of the table while it is empty. At most 5 minutes.
     * @param sweepInterval Time between two reads of the table while a dev.puri.client.outbox.Feed bean reports new
     *     rows of the outbox.
     * @param firstBackoff Time before the first retry. Each further failure doubles the time, up to 60 s.
     * @param maxLag Health is DOWN if the oldest unpublished row is older than this. Rows that could not be published,
     *     and later rows of the same pURIs, do not count.
     */
    public record Relay(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("50ms") Duration pollInterval,
            @DefaultValue("30s") Duration sweepInterval,
            @DefaultValue("1s") Duration firstBackoff,
            @DefaultValue("1m") Duration maxLag) {}

    /** Limits a duration to 100 years, so that its nanoseconds fit into a long. */
    static Duration bounded(Duration time) {
        return time.compareTo(MAX_DURATION) > 0 ? MAX_DURATION : time;
    }

    /** Returns the properties for an {@code IdentityPublisher} or an {@code OutboxRelay}. */
    public Map<String, Object> producerProperties() {
        Map<String, Object> merged = new LinkedHashMap<>(kafka.properties);
        merged.put("bootstrap.servers", String.join(",", kafka.bootstrapServers));
        if (!schemaRegistry.url.isEmpty()) {
            merged.put("schema.registry.url", String.join(",", schemaRegistry.url));
        }
        return merged;
    }
}
