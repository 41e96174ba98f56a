package dev.puri.resolver;

import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.util.Map;
import org.apache.avro.Schema;

/** The schemas of the tests that share a schema registry. */
final class SharedSchemas {
    private SharedSchemas() {}

    static String url() {
        return SchemaRegistryFixture.shared().url();
    }

    /** Registers a schema and returns its id. One test at a time does so, because a subject has one first writer. */
    static synchronized int register(String subject, Schema schema) {
        try (ConfluentSchemaRegistry schemas = ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url()))) {
            return schemas.register(subject, schema);
        }
    }
}
