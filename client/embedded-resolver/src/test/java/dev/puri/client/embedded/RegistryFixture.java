package dev.puri.client.embedded;

import static org.awaitility.Awaitility.await;

import dev.puri.client.CollectionRegistry;
import dev.puri.client.Events;
import dev.puri.client.Identifiers;
import dev.puri.client.Identities;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.NewIdentity;
import dev.puri.client.resolve.ContractRegistry;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.settings.Settings;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/** A registry of real parts: broker, schema registry, topology and a resolver over HTTP. */
final class RegistryFixture implements ContractRegistry, AutoCloseable {
    /** Bounds waits for conditions that a busy machine may delay. */
    static final Duration SOON = Duration.ofSeconds(60);

    final RestartableBroker broker = Broker.start();
    final RestartableSchemaRegistry schemas = SchemaRegistryFixture.start();
    private final Identities identities = new Identities(NAMESPACE, COLLECTION, PREFIX, Identifiers.nanoid());
    private final CollectionRegistry collections;
    private final RegistryStreams streams;
    private final Resolver resolver;
    private final IdentityPublisher publisher;

    RegistryFixture(Path folder) {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            RegistryTopics.create(admin, PARTITIONS, (short) 1, Set.of());
        }
        Map<String, Object> properties =
                Map.of("bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", schemas.url());
        collections = new CollectionRegistry(properties, Duration.ofSeconds(60));
        declare(new Collection(NAMESPACE, COLLECTION, PREFIX, Set.of(), false, false, "", false));
        streams = RegistryStreams.start(Settings.read(
                StreamsSettings.class,
                Map.of(
                        "bootstrap.server",
                        broker.bootstrapServers(),
                        "schema.registry",
                        schemas.url(),
                        "streams.state.dir",
                        folder.resolve("streams").toString(),
                        "streams.store.memory",
                        "64",
                        "streams.http.port",
                        "0"),
                Map.of(),
                null));
        resolver = Resolver.start(Settings.read(
                ResolverSettings.class,
                Map.of(
                        "bootstrap.server",
                        broker.bootstrapServers(),
                        "schema.registry",
                        schemas.url(),
                        "http.port",
                        "0",
                        "drain.delay",
                        "0s"),
                Map.of(),
                null));
        publisher = new IdentityPublisher(properties);
        await().atMost(SOON).until(() -> streams.isReady() && resolver.isReady());
    }

    ResolverOptions.Builder overHttp() {
        return ResolverOptions.at("http://127.0.0.1:" + resolver.port()).deadline(Duration.ofSeconds(60));
    }

    EmbeddedResolverOptions.Builder embedded(Path folder) {
        return EmbeddedResolverOptions.at(broker.bootstrapServers(), schemas.url(), folder);
    }

    @Override
    public NewIdentity mint() {
        return identities.mint();
    }

    @Override
    public Position publish(Events.Draft draft) throws Exception {
        Event event = draft.build();
        return publisher.publish(event).toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Override
    public void declare(Collection collection) {
        collections.apply(List.of(collection));
    }

    @Override
    public void close() {
        publisher.close();
        resolver.close();
        streams.close();
        schemas.close();
        broker.close();
    }
}
