package dev.puri.testkit;

import dev.puri.embedded.EmbeddedBroker;
import org.jspecify.annotations.Nullable;

/** A broker that runs in this process. */
final class InProcessBroker implements RestartableBroker {
    private final TemporaryDirectory data = new TemporaryDirectory("puri-broker");
    private final int port;
    private @Nullable EmbeddedBroker running;

    InProcessBroker() {
        EmbeddedBroker broker = EmbeddedBroker.start(data.path(), 0);
        running = broker;
        port = broker.port();
    }

    @Override
    public String bootstrapServers() {
        return "127.0.0.1:" + port;
    }

    @Override
    public synchronized void stop() {
        if (running != null) {
            running.close();
            running = null;
        }
    }

    @Override
    public synchronized void start() {
        if (running == null) {
            running = EmbeddedBroker.start(data.path(), port);
        }
    }

    @Override
    public void close() {
        stop();
        data.close();
    }
}
