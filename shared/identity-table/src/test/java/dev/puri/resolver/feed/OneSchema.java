package dev.puri.resolver.feed;

import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.schemas.serde.UnknownSchemaException;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** A schema registry that knows one schema, unless it is unavailable. */
final class OneSchema implements SchemaRegistry {
    private final int knownId;
    private final Schema schema;

    /** Whether the registry does not answer. */
    volatile boolean away;

    /** Thrown by every look-up; null for none. */
    volatile @Nullable Error error;

    OneSchema(int id, Schema schema) {
        knownId = id;
        this.schema = schema;
    }

    @Override
    public Schema byId(int id) {
        Error thrown = error;
        if (thrown != null) {
            throw thrown;
        }
        if (away) {
            throw new SchemaRegistryUnavailableException("away", null);
        }
        if (id != knownId) {
            throw new UnknownSchemaException("no schema " + id, null);
        }
        return schema;
    }

    @Override
    public int register(String subject, Schema schema) {
        throw new IllegalStateException();
    }

    @Override
    public int idOf(String subject, Schema schema) {
        throw new IllegalStateException();
    }

    @Override
    public void close() {}
}
