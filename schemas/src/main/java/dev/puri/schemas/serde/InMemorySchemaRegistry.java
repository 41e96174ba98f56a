package dev.puri.schemas.serde;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.Schema;

/**
 * A schema registry in memory, for tests. It registers every schema without a compatibility check, and can simulate an
 * outage. Thread-safe.
 */
public final class InMemorySchemaRegistry implements SchemaRegistry {
    private final List<Schema> schemas = new ArrayList<>();
    private final Set<Registration> registrations = new HashSet<>();
    private volatile boolean isAway;

    private record Registration(String subject, Schema schema) {}

    /**
     * Starts or ends an outage. During an outage {@link #byId} throws {@link SchemaRegistryUnavailableException}. The
     * other methods do not, because a writer has cached the id of its schema.
     */
    public void setAway(boolean away) {
        isAway = away;
    }

    @Override
    public synchronized int register(String subject, Schema schema) {
        if (!schemas.contains(schema)) {
            schemas.add(schema);
        }
        registrations.add(new Registration(subject, schema));
        return schemas.indexOf(schema) + 1;
    }

    @Override
    public synchronized int idOf(String subject, Schema schema) {
        if (!registrations.contains(new Registration(subject, schema))) {
            throw new UnknownSchemaException("subject " + subject + ": the schema is not registered", null);
        }
        return schemas.indexOf(schema) + 1;
    }

    @Override
    public synchronized Schema byId(int id) {
        if (isAway) {
            throw new SchemaRegistryUnavailableException("schema id " + id + ": the registry is unavailable", null);
        }
        if (id < 1 || id > schemas.size()) {
            throw new UnknownSchemaException("schema id " + id + ": no schema has it", null);
        }
        return schemas.get(id - 1);
    }

    @Override
    public void close() {}
}
