package dev.puri.spring.boot;

import dev.puri.client.resolve.CacheStatistics.Feed;
import dev.puri.client.resolve.ResolverClient;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Map;

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
        FunctionCounter.builder(
                        "puri.resolver.requests",
                        client,
                        each -> each.requestStatistics().requests())
                .tags(tags)
                .description("Requests sent")
                .register(registry);
        FunctionCounter.builder(
                        "puri.resolver.failovers",
                        client,
                        each -> each.requestStatistics().failedOver())
                .tags(tags)
                .description("Requests sent because another address had failed")
                .register(registry);
        FunctionCounter.builder(
                        "puri.resolver.hedges",
                        client,
                        each -> each.requestStatistics().hedged())
                .tags(tags)
                .description("Requests sent because another address had not responded in time")
                .register(registry);
        Gauge.builder("puri.resolver.pending", () -> client.requestStatistics().pending())
                .tags(tags)
                .description("References not yet answered")
                .register(registry);

        String lookUps = "Look-ups, by whether the cache answered";
        FunctionCounter.builder(
                        "puri.resolver.cache.lookups",
                        client,
                        each -> each.cacheStatistics().hits())
                .tags(tags.and("result", "hit"))
                .description(lookUps)
                .register(registry);
        FunctionCounter.builder(
                        "puri.resolver.cache.lookups",
                        client,
                        each -> each.cacheStatistics().misses())
                .tags(tags.and("result", "miss"))
                .description(lookUps)
                .register(registry);
        FunctionCounter.builder(
                        "puri.resolver.cache.evictions",
                        client,
                        each -> each.cacheStatistics().evictions())
                .tags(tags)
                .description("Rows evicted")
                .register(registry);
        FunctionCounter.builder(
                        "puri.resolver.cache.changes",
                        client,
                        each -> each.cacheStatistics().changes())
                .tags(tags)
                .description("Changes of rows")
                .register(registry);
        FunctionCounter.builder(
                        "puri.resolver.cache.resets",
                        client,
                        each -> each.cacheStatistics().resets())
                .tags(tags)
                .description("Times that the whole cache was cleared")
                .register(registry);
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
}
