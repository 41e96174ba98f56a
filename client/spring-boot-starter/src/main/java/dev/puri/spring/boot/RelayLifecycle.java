package dev.puri.spring.boot;

import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.RelaySettings;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * Runs an {@link OutboxRelay} as long as the application context runs. The relay starts after all beans are created, hence after
 * migrations, and before the web server. It stops after the web server and before any bean is destroyed, so that the {@code DataSource}
 * outlives it. A context that fails to start destroys its beans without stopping lifecycles, so {@link #destroy} stops the relay too.
 *
 * <p>An application with several databases declares one for each.
 */
public final class RelayLifecycle implements SmartLifecycle, DisposableBean {
    /** Below the phases of Boot's web servers and their graceful shutdown. */
    static final int PHASE = DEFAULT_PHASE - 8192;

    private final RelaySettings settings;
    private final Feed feed;
    private @Nullable volatile OutboxRelay running;

    /**
     * @param feed a feed that no other relay uses; {@link Feed#NONE} to poll the table
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

    /** Stops the relay. Returns when the rows under way are published, within the time that {@link OutboxRelay#close} states. */
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
     * Returns the relay, for its status, and to retry or skip a blocked event.
     *
     * @throws IllegalStateException if it does not run
     */
    public OutboxRelay relay() {
        OutboxRelay relay = running;
        if (relay == null) {
            throw new IllegalStateException("the relay of " + settings.table() + " does not run");
        }
        return relay;
    }

    /** Makes the relay read its table at once, if it runs. Never blocks. */
    public void wake() {
        OutboxRelay relay = running;
        if (relay != null) {
            relay.wake();
        }
    }
}
