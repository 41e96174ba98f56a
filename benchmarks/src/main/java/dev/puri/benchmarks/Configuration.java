package dev.puri.benchmarks;

import dev.puri.client.CollectionRegistry;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.collection.Collection;
import dev.puri.settings.Settings;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Settings of topology and resolver: their defaults, but for addresses, directories and the command line's options. */
record Configuration(String schemaRegistry, Optional<Duration> commitInterval) {

    StreamsSettings of(FreshBroker broker) {
        Map<String, String> flags = new HashMap<>();
        flags.put("bootstrap.server", broker.bootstrapServers());
        flags.put("schema.registry", schemaRegistry);
        flags.put("streams.state.dir", broker.directory("streams").toString());
        flags.put("streams.http.port", "0");
        commitInterval.ifPresent(interval -> flags.put("streams.commit.interval", interval.toMillis() + "ms"));
        return Settings.read(StreamsSettings.class, flags, Map.of(), null);
    }

    ResolverSettings ofResolver(FreshBroker broker) {
        Map<String, String> flags = Map.of(
                "bootstrap.server",
                broker.bootstrapServers(),
                "schema.registry",
                schemaRegistry,
                "state.dir",
                broker.directory("resolver").toString(),
                "drain.delay",
                "0s",
                "http.port",
                "0");
        return Settings.read(ResolverSettings.class, flags, Map.of(), null);
    }

    void declare(FreshBroker broker, Collection collection) {
        new CollectionRegistry(
                        Map.of("bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", schemaRegistry),
                        Duration.ofSeconds(30))
                .apply(List.of(collection));
    }
}
