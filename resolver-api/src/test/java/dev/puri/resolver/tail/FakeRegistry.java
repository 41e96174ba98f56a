package dev.puri.resolver.tail;

import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.avro.Schema;

/** A schema registry in memory, that may be out of reach. */
public final class FakeRegistry implements SchemaRegistry {
    private final List<Schema> schemas = new CopyOnWriteArrayList<>();
    private volatile boolean isAway;

    /** Out of reach, or back. */
    public void setAway(boolean away) {
        isAway = away;
    }

    @Override
    public synchronized int register(String subject, Schema schema) {
        if (!schemas.contains(schema)) {
            schemas.add(schema);
        }
        return schemas.indexOf(schema);
    }

    @Override
    public int idOf(String subject, Schema schema) {
        return schemas.indexOf(schema);
    }

    @Override
    public Schema byId(int id) {
        if (isAway) {
            throw new RegistryUnavailableException("schema id " + id + ": away", null);
        }
        if (id < 0 || id >= schemas.size()) {
            throw new UnknownSchemaException("schema id " + id + ": unknown", null);
        }
        return schemas.get(id);
    }

    @Override
    public void close() {}
}
