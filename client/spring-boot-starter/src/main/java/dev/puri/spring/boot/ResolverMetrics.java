package dev.puri.spring.boot;

import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.CacheStatistics.Feed;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverClient.RequestStatistics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;
import java.util.function.ToLongFunction;

/** Binds the metrics of resolver clients, of their requests and caches, with the tag {@code client}. */
final class ResolverMetrics implements MeterBinder {
    private final Map<String, ResolverClient> clients;

    ResolverMetrics(Map<String, ResolverClient> clients) {
        this.clients = Map.copyOf(clients);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        clients.forEach((name, client) -> bind(registry, Tags.of("client", name), client));
    }

    private static void bind(MeterRegistry registry, Tags tags, ResolverClient client) {
        requestCounter(registry, tags, client, "puri.resolver.requests", "Requests sent", RequestStatistics::requests);
        requestCounter(
                registry,
                tags,
                client,
                "puri.resolver.failovers",
                "Requests sent because another address had failed",
                RequestStatistics::failedOver);
        requestCounter(
                registry,
                tags,
                client,
                "puri.resolver.hedges",
                "Requests sent because another address had not responded in time",
                RequestStatistics::hedged);
        Gauge.builder("puri.resolver.pending", () -> client.requestStatistics().pending())
                .tags(tags)
                .description("References not yet answered")
                .register(registry);

        String lookups = "Look-ups, by whether the cache answered";
        cacheCounter(
                registry,
                tags.and("result", "hit"),
                client,
                "puri.resolver.cache.lookups",
                lookups,
                CacheStatistics::hits);
        cacheCounter(
                registry,
                tags.and("result", "miss"),
                client,
                "puri.resolver.cache.lookups",
                lookups,
                CacheStatistics::misses);
        cacheCounter(
                registry, tags, client, "puri.resolver.cache.evictions", "Rows evicted", CacheStatistics::evictions);
        cacheCounter(
                registry, tags, client, "puri.resolver.cache.changes", "Changes of rows", CacheStatistics::changes);
        cacheCounter(
                registry,
                tags,
                client,
                "puri.resolver.cache.resets",
                "Times that the whole cache was cleared",
                CacheStatistics::resets);
        Gauge.builder("puri.resolver.cache.rows", () -> client.cacheStatistics().rows())
                .tags(tags)
                .description("Rows in the cache")
                .register(registry);
        Gauge.builder(
                        "puri.resolver.feed.current",
                        () -> client.cacheStatistics().feed() == Feed.CURRENT ? 1 : 0)
                .tags(tags)
                .description("1 while the feed is current and the cache is used")
                .register(registry);
    }

    private static void requestCounter(
            MeterRegistry registry,
            Tags tags,
            ResolverClient client,
            String name,
            String description,
            ToLongFunction<RequestStatistics> count) {
        FunctionCounter.builder(name, client, counted -> count.applyAsLong(counted.requestStatistics()))
                .tags(tags)
                .description(description)
                .register(registry);
    }

    private static void cacheCounter(
            MeterRegistry registry,
            Tags tags,
            ResolverClient client,
            String name,
            String description,
            ToLongFunction<CacheStatistics> count) {
        FunctionCounter.builder(name, client, counted -> count.applyAsLong(counted.cacheStatistics()))
                .tags(tags)
                .description(description)
                .register(registry);
    }
}
