package dev.puri.benchmarks.environment;

import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.registry.RegistrySchemas;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** A schema registry in a separate process, with the schemas of the identity registry's topics. */
public final class LocalSchemaRegistry implements AutoCloseable {
    private final TemporaryFolder folder = TemporaryFolder.create();
    private final EmbeddedRegistry registry = EmbeddedRegistry.start(folder.path(), 0);
    private final int eventSchemaId;

    /** Starts the schema registry. */
    public LocalSchemaRegistry() {
        try (ConfluentSchemaRegistry client = ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url()))) {
            eventSchemaId = Objects.requireNonNull(
                    RegistrySchemas.register(client, Set.of()).get(Topics.EVENTS + "-value"));
        }
    }

    /** Returns the URL of the schema registry. */
    public String url() {
        return registry.url();
    }

    /** Returns the id of the events' schema. */
    public int eventSchemaId() {
        return eventSchemaId;
    }

    @Override
    public void close() {
        registry.close();
        folder.close();
    }
}
