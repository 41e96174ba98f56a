package dev.puri.testkit;

import dev.puri.embedded.EmbeddedRegistry;
import org.jspecify.annotations.Nullable;

/** A schema registry that a test may stop and start again. A restart keeps the schemas and the address. */
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

    /** Stops the registry; clients are then refused the connection. Does nothing if the registry is stopped. */
    public synchronized void stop() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    /** Starts the registry again and returns when it responds. Does nothing if the registry is running. */
    public synchronized void start() {
        if (running == null) {
            running = EmbeddedRegistry.start(data.path(), port);
        }
    }

    /** Starts the stopped registry without its schemas, as after the loss of its disk. */
    public synchronized void startEmpty() {
        if (running != null) {
            throw new IllegalStateException("the registry is running");
        }
        data.clear();
        start();
    }

    /** Stops the registry and removes its schemas. */
    @Override
    public void close() {
        stop();
        data.close();
    }
}
