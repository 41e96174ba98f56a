package dev.puri.client.testing;

import dev.puri.client.CollectionRegistry;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A complete running identity registry: broker, schema registry, topology, resolver and search, each on a free port of
 * this machine. All tests of a JVM share one registry, so each test must use its own names. Thread-safe.
 */
public interface Registry {
    /**
     * Returns the registry of this JVM. The first call starts the registry and returns when it is ready, after about
     * ten seconds. The registry stops by itself after the JVM has ended, even if the JVM was killed.
     *
     * @throws RegistryStartException if the registry cannot be started; the message says what to change
     */
    static Registry shared() {
        return SharedRegistry.get();
    }

    /** The address of the broker, {@code host:port}. */
    String bootstrapServers();

    /** The base URL of the schema registry's Confluent API. */
    String schemaRegistryUrl();

    /** The base URL of the resolver's internal API. */
    String resolverUrl();

    /** The base URL of the resolver's public API, which accepts only handles. */
    String publicUrl();

    /** The base URL of the search indexer's API. */
    String searchUrl();

    /**
     * Returns properties for an {@link IdentityPublisher}, including a resolver for {@link IdentityPublisher#await},
     * and for a {@link CollectionRegistry}.
     */
    default Map<String, Object> properties() {
        return Map.of(
                "bootstrap.servers",
                bootstrapServers(),
                "schema.registry.url",
                schemaRegistryUrl(),
                IdentityPublisher.RESOLVER_URL,
                resolverUrl());
    }

    /** Returns properties of {@code puri-spring-boot-starter}, for a {@code DynamicPropertyRegistry}. */
    default Map<String, String> springProperties() {
        return Map.of(
                "puri.kafka.bootstrap-servers",
                bootstrapServers(),
                "puri.schema-registry.url",
                schemaRegistryUrl(),
                "puri.resolver.addresses",
                resolverUrl());
    }

    /**
     * Declares collections and namespaces, as {@code puri collections apply} does. A repeated declaration changes
     * nothing. Also creates the events topics of namespaces that have their own topic. The topology reads a new topic
     * after at most 30 s.
     *
     * @throws IllegalArgumentException if a declaration conflicts with one of another test; the message lists all
     *     conflicts
     */
    default void declare(List<? extends Declaration> declarations) {
        DeclarationResult declared = new CollectionRegistry(properties(), Duration.ofSeconds(60)).apply(declarations);
        if (declared instanceof DeclarationResult.Conflicts conflicts) {
            throw new IllegalArgumentException("conflicts with existing declarations:\n" + conflicts);
        }
        NamespaceTopics.create(bootstrapServers(), declarations);
    }

    /**
     * Declares the collections and namespaces in a file.
     *
     * @param resource name of the file on the class path, such as {@code collections.yaml}
     * @throws IllegalArgumentException if the file is missing, has mistakes, or conflicts with existing declarations
     */
    default void declare(String resource) {
        declare(Resources.declarations(resource));
    }
}
