package dev.puri.schemas.serde;

import org.apache.avro.Schema;

/**
 * A schema registry that speaks Confluent's API, as far as the serde needs it. Implementations are
 * thread-safe and cache what they were told, for an id never changes its schema.
 */
public interface SchemaRegistry extends AutoCloseable {
    /**
     * Registers a schema, or finds it registered.
     *
     * @return its id
     * @throws RegistryUnavailableException when the registry cannot be reached within the bound
     * @throws IncompatibleSchemaException when the registry refuses it
     */
    int register(String subject, Schema schema);

    /**
     * The id of a schema that is registered already.
     *
     * @throws RegistryUnavailableException when the registry cannot be reached within the bound
     * @throws UnknownSchemaException when it is not registered
     */
    int idOf(String subject, Schema schema);

    /**
     * The schema with this id.
     *
     * @throws RegistryUnavailableException when the registry cannot be reached within the bound
     * @throws UnknownSchemaException when no schema has this id
     */
    Schema byId(int id);

    @Override
    void close();
}
