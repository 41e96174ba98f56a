package dev.puri.client.testing;

import dev.puri.client.CollectionRegistry;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.Declared;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A complete running registry: broker, schema registry, topology, resolver and search, each on a free port of this machine. All tests
 * of a JVM share it, so each test mints names of its own. Thread-safe.
 */
public interface Registry {
    /**
     * Returns the registry of this JVM. The first call starts it and returns when it is ready, after some ten seconds. The registry ends
     * after the JVM, even if the JVM is killed.
     *
     * @throws RegistryStartException if it cannot be started; the message says what to change
     */
    static Registry shared() {
        return SharedRegistry.get();
    }

    /** The broker, as {@code host:port}. */
    String bootstrapServers();

    /** Base of the schema registry's Confluent API. */
    String schemaRegistryUrl();

    /** Base of the resolver's internal API. */
    String resolverUrl();

    /** Base of the resolver's public API, which answers by handles. */
    String publicUrl();

    /** Base of the search indexer's API. */
    String searchUrl();

    /** Properties for an {@link IdentityPublisher}, which can then await outcomes, and for a {@link CollectionRegistry}. */
    default Map<String, Object> properties() {
        return Map.of(
                "bootstrap.servers",
                bootstrapServers(),
                "schema.registry.url",
                schemaRegistryUrl(),
                IdentityPublisher.RESOLVER_URL,
                resolverUrl());
    }

    /** Properties of {@code puri-spring-boot-starter}, for a {@code DynamicPropertyRegistry}. */
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
     * Declares collections and namespaces, as {@code puri collections apply} does; repeating a declaration changes nothing. Creates the
     * events topics of namespaces that own one; the topology reads a new topic after up to 30 s.
     *
     * @throws IllegalArgumentException if one conflicts with a declaration of another test; all conflicts are listed
     */
    default void declare(List<? extends Declaration> declarations) {
        Declared declared = new CollectionRegistry(properties(), Duration.ofSeconds(60)).apply(declarations);
        if (declared instanceof Declared.Conflicts conflicts) {
            throw new IllegalArgumentException("conflicts with what is declared:\n" + conflicts);
        }
        NamespaceTopics.create(bootstrapServers(), declarations);
    }

    /**
     * Declares the collections and namespaces of a file.
     *
     * @param resource the file's name on the class path, such as {@code collections.yaml}
     * @throws IllegalArgumentException if there is no such resource, it has mistakes, or it conflicts with existing declarations
     */
    default void declare(String resource) {
        try (InputStream file = Resources.open(resource)) {
            declare(CollectionsFile.read(resource, new InputStreamReader(file, StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new UncheckedIOException(resource + " cannot be read", e);
        }
    }
}
