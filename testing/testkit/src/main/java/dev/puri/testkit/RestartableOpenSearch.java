package dev.puri.testkit;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** An OpenSearch node that a test may stop and start again. A restart keeps the indices and the address. */
public final class RestartableOpenSearch implements OpenSearchFixture, AutoCloseable {
    private final TemporaryDirectory home = new TemporaryDirectory("puri-opensearch");
    private final int port;
    private @Nullable OpenSearchProcess running;

    RestartableOpenSearch() {
        OpenSearchProcess process = OpenSearchProcess.start(home.path(), 0);
        running = process;
        port = process.port();
    }

    @Override
    public String url() {
        return "http://" + OpenSearchProcess.HOST + ":" + port;
    }

    @Override
    public Path data() {
        return OpenSearchProcess.data(home.path());
    }

    /**
     * Kills the node, as {@code kill -9} does; clients are then refused the connection. Does nothing if the node is
     * stopped.
     */
    public synchronized void stop() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    /** Starts the node again and returns when it responds. Does nothing if the node is running. */
    public synchronized void start() {
        if (running == null) {
            running = OpenSearchProcess.start(home.path(), port);
        }
    }

    /** Stops the node and removes its indices. */
    @Override
    public void close() {
        stop();
        home.close();
    }
}
