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

/** Requests and caches of resolver clients, each with the tag {@code client}. */
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
        requests(registry, tags, client, "puri.resolver.requests", "Requests sent", RequestStatistics::requests);
        requests(
                registry,
                tags,
                client,
                "puri.resolver.failovers",
                "Requests sent because an address failed",
                RequestStatistics::failedOver);
        requests(
                registry,
                tags,
                client,
                "puri.resolver.hedges",
                "Requests sent because an address was silent",
                RequestStatistics::hedged);
        Gauge.builder("puri.resolver.pending", () -> client.requestStatistics().pending())
                .tags(tags)
                .description("References asked and not yet answered")
                .register(registry);

        String lookups = "Look-ups, by whether the cache answered";
        cache(
                registry,
                tags.and("result", "hit"),
                client,
                "puri.resolver.cache.lookups",
                lookups,
                CacheStatistics::hits);
        cache(
                registry,
                tags.and("result", "miss"),
                client,
                "puri.resolver.cache.lookups",
                lookups,
                CacheStatistics::misses);
        cache(registry, tags, client, "puri.resolver.cache.evictions", "Rows evicted", CacheStatistics::evictions);
        cache(registry, tags, client, "puri.resolver.cache.changes", "Changes of rows", CacheStatistics::changes);
        cache(registry, tags, client, "puri.resolver.cache.resets", "Times all was dropped", CacheStatistics::resets);
        Gauge.builder("puri.resolver.cache.rows", () -> client.cacheStatistics().rows())
                .tags(tags)
                .description("Rows in the cache")
                .register(registry);
        Gauge.builder(
                        "puri.resolver.feed.current",
                        () -> client.cacheStatistics().feed() == Feed.CURRENT ? 1 : 0)
                .tags(tags)
                .description("1 while the cache answers")
                .register(registry);
    }

    private static void requests(
            MeterRegistry registry,
            Tags tags,
            ResolverClient client,
            String name,
            String description,
            ToLongFunction<RequestStatistics> count) {
        FunctionCounter.builder(name, client, each -> count.applyAsLong(each.requestStatistics()))
                .tags(tags)
                .description(description)
                .register(registry);
    }

    private static void cache(
            MeterRegistry registry,
            Tags tags,
            ResolverClient client,
            String name,
            String description,
            ToLongFunction<CacheStatistics> count) {
        FunctionCounter.builder(name, client, each -> count.applyAsLong(each.cacheStatistics()))
                .tags(tags)
                .description(description)
                .register(registry);
    }
}
