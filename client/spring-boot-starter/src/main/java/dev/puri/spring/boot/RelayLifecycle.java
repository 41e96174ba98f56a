package dev.puri.spring.boot;

import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.RelaySettings;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * Runs an {@link OutboxRelay} for as long as the application context runs. It starts after all beans are made, so after
 * migrations too, and before the web server. It stops after the web server and before any bean is destroyed, so the {@code
 * DataSource} outlives it. A context that fails to start stops no lifecycle but destroys its beans; the relay stops then too.
 *
 * <p>An application with several databases declares one for each.
 */
public final class RelayLifecycle implements SmartLifecycle, DisposableBean {
    /** Below those of Boot's web servers and their graceful shutdown. */
    static final int PHASE = DEFAULT_PHASE - 8192;

    private final RelaySettings settings;
    private final Feed feed;
    private @Nullable volatile OutboxRelay running;

    /**
     * @param feed for this relay alone; {@link Feed#NONE} to poll the table
     */
    public RelayLifecycle(RelaySettings settings, Feed feed) {
        this.settings = settings;
        this.feed = feed;
    }

    @Override
    public synchronized void start() {
        if (running == null) {
            running = OutboxRelay.start(settings, feed);
        }
    }

    /** Returns when the rows that are under way are published; {@link OutboxRelay#close} says when at the latest. */
    @Override
    public synchronized void stop() {
        OutboxRelay relay = running;
        running = null;
        if (relay != null) {
            relay.close();
        }
    }

    /** Stops the relay, if it still runs. */
    @Override
    public void destroy() {
        stop();
    }

    @Override
    public boolean isRunning() {
        return running != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /**
     * The relay, to ask for its status, and to retry or skip a blocked event.
     *
     * @throws IllegalStateException when it does not run
     */
    public OutboxRelay relay() {
        OutboxRelay relay = running;
        if (relay == null) {
            throw new IllegalStateException("the relay of " + settings.table() + " does not run");
        }
        return relay;
    }

    /** Lets the relay look at its table at once, if it runs. Never blocks. */
    public void wake() {
        OutboxRelay relay = running;
        if (relay != null) {
            relay.wake();
        }
    }
}
