package dev.puri.schemas.serde;

import org.apache.avro.Schema;

/**
 * The part of Confluent's schema registry API that the serde uses. Implementations are thread-safe and cache results,
 * because the schema of an id never changes.
 */
public interface SchemaRegistry extends AutoCloseable {
    /**
     * Registers a schema, if it is not registered already.
     *
     * @return its id
     * @throws RegistryUnavailableException if the registry is unreachable after the retries
     * @throws IncompatibleSchemaException if the registry refuses it
     */
    int register(String subject, Schema schema);

    /**
     * Returns the id of a registered schema.
     *
     * @throws RegistryUnavailableException if the registry is unreachable after the retries
     * @throws UnknownSchemaException if it is not registered
     */
    int idOf(String subject, Schema schema);

    /**
     * Returns the schema with an id.
     *
     * @throws RegistryUnavailableException if the registry is unreachable after the retries
     * @throws UnknownSchemaException if no schema has this id
     */
    Schema byId(int id);

    @Override
    void close();
}
