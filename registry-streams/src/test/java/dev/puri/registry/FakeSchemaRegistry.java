package dev.puri.registry;

import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;

/** A schema registry in the test's own memory, which can be made to be out of reach. */
final class FakeSchemaRegistry implements SchemaRegistry {
    private final List<Schema> schemas = new ArrayList<>();
    private volatile boolean isDown;

    void goDown() {
        isDown = true;
    }

    void comeUp() {
        isDown = false;
    }

    @Override
    public synchronized int register(String subject, Schema schema) {
        if (!schemas.contains(schema)) {
            schemas.add(schema);
        }
        return schemas.indexOf(schema) + 1;
    }

    @Override
    public int idOf(String subject, Schema schema) {
        return register(subject, schema);
    }

    @Override
    public synchronized Schema byId(int id) {
        if (isDown) {
            throw new RegistryUnavailableException("the registry is down", null);
        }
        if (id < 1 || id > schemas.size()) {
            throw new UnknownSchemaException("no schema has the id " + id, null);
        }
        return schemas.get(id - 1);
    }

    @Override
    public void close() {}
}
