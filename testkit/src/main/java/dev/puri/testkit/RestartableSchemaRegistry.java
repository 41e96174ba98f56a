package dev.puri.testkit;

import dev.puri.embedded.EmbeddedRegistry;
import org.jspecify.annotations.Nullable;

/** A schema registry that a test may stop and start again; its schemas and its address stay. */
public final class RestartableSchemaRegistry implements SchemaRegistryFixture, AutoCloseable {
    private final TemporaryDirectory data = new TemporaryDirectory("puri-registry");
    private final int port;
    private final String url;
    private @Nullable EmbeddedRegistry running;

    RestartableSchemaRegistry() {
        EmbeddedRegistry registry = EmbeddedRegistry.start(data.path(), 0);
        running = registry;
        port = registry.port();
        url = registry.url();
    }

    @Override
    public String url() {
        return url;
    }

    /** Stops it; clients find nobody at its address. Does nothing when it is stopped. */
    public synchronized void stop() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    /** Starts it again and returns when it answers. Does nothing when it runs. */
    public synchronized void start() {
        if (running == null) {
            running = EmbeddedRegistry.start(data.path(), port);
        }
    }

    /** Stops it and removes its schemas. */
    @Override
    public void close() {
        stop();
        data.close();
    }
}
