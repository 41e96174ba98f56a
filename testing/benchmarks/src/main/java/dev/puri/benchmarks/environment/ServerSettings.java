package dev.puri.benchmarks.environment;

import dev.puri.client.CollectionRegistry;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.collection.Collection;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a topology, a resolver and publishers: the defaults, except addresses, folders and ports.
 *
 * @param schemaRegistry URL of the schema registry
 * @param commitIntervalMillis of the topology; null for the default
 */
public record ServerSettings(
        String schemaRegistry, @Nullable Long commitIntervalMillis) {
    private static final Duration STARTUP = Duration.ofSeconds(60);

    /** Returns settings with the topology's default commit interval. */
    public static ServerSettings of(LocalSchemaRegistry registry) {
        return new ServerSettings(registry.url(), null);
    }

    /** Returns settings of a topology with one instance. */
    public StreamsSettings topology(FreshBroker broker) {
        return topology(broker, "streams", Map.of());
    }

    /**
     * Returns settings of an instance of a topology.
     *
     * @param directory name of the instance's state directory
     * @param others further settings, by name
     */
    public StreamsSettings topology(FreshBroker broker, String directory, Map<String, String> others) {
        Map<String, String> flags = new HashMap<>(addresses(broker));
        flags.putAll(others);
        flags.put("streams.state.dir", broker.directory(directory).toString());
        flags.put("streams.http.port", "0");
        if (commitIntervalMillis != null) {
            flags.put("streams.commit.interval", commitIntervalMillis + "ms");
        }
        return Settings.read(StreamsSettings.class, flags, Map.of(), null);
    }

    /** Starts a topology with one instance, and waits until it is ready. */
    public RegistryStreams startTopology(FreshBroker broker) throws IOException {
        RegistryStreams topology = RegistryStreams.start(topology(broker));
        Await.until("the topology", STARTUP, topology::isReady);
        return topology;
    }

    /** Starts a resolver, and waits until it is ready. */
    public Resolver startResolver(FreshBroker broker) throws IOException {
        Map<String, String> flags = new HashMap<>(addresses(broker));
        flags.put("state.dir", broker.directory("resolver").toString());
        flags.put("drain.delay", "0s");
        flags.put("http.port", "0");
        Resolver resolver = Resolver.start(Settings.read(ResolverSettings.class, flags, Map.of(), null));
        Await.until("the resolver", STARTUP, resolver::isReady);
        return resolver;
    }

    private Map<String, String> addresses(FreshBroker broker) {
        return Map.of("bootstrap.server", broker.bootstrapServers(), "schema.registry", schemaRegistry);
    }

    /** Returns the properties that every client of the registry needs. */
    public Map<String, String> client(FreshBroker broker) {
        return Map.of("bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", schemaRegistry);
    }

    /** Declares a collection. */
    public void declare(FreshBroker broker, Collection collection) {
        new CollectionRegistry(client(broker), Duration.ofSeconds(30)).apply(List.of(collection));
    }
}
