package dev.puri.schemas.serde;

import org.apache.avro.Schema;

/**
 * The part of a schema registry's API that the serde uses. Implementations are thread-safe. They cache results, because
 * the schema of an id never changes.
 */
public interface SchemaRegistry extends AutoCloseable {
    /**
     * Registers a schema if it is not registered yet.
     *
     * @return the id of the schema
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries
     * @throws IncompatibleSchemaException if the registry refuses the schema
     */
    int register(String subject, Schema schema);

    /**
     * Returns the id of a registered schema.
     *
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries
     * @throws UnknownSchemaException if the schema is not registered
     */
    int idOf(String subject, Schema schema);

    /**
     * Returns the schema with an id.
     *
     * @throws SchemaRegistryUnavailableException if the registry is unreachable after the retries
     * @throws UnknownSchemaException if no schema has this id
     */
    Schema byId(int id);

    @Override
    void close();
}
