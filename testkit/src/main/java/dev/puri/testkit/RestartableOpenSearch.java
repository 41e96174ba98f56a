package dev.puri.testkit;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** An OpenSearch node that a test may stop and start again; its indices and its address stay. */
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

    /** Ends it at once, as {@code kill -9} does; clients find nobody at its address. Does nothing when it is stopped. */
    public synchronized void stop() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    /** Starts it again and returns when it answers. Does nothing when it runs. */
    public synchronized void start() {
        if (running == null) {
            running = OpenSearchProcess.start(home.path(), port);
        }
    }

    /** Stops it and removes its indices. */
    @Override
    public void close() {
        stop();
        home.close();
    }
}
