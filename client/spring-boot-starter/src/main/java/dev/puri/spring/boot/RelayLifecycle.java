package dev.puri.spring.boot;

import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.OutboxRelay;
import dev.puri.client.outbox.RelaySettings;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * Runs an {@link OutboxRelay} while the application context runs. The relay starts when all beans are created and all
 * migrations have run, before the web server starts. It stops after the web server and before any bean is destroyed, so
 * the {@code DataSource} is usable until the relay has stopped. If a context fails to start, Spring destroys its beans
 * without calling {@link #stop}, so {@link #destroy} also stops the relay.
 *
 * <p>An application with several databases declares a RelayLifecycle for each database.
 */
public final class RelayLifecycle implements SmartLifecycle, DisposableBean {
    /** Lower than the phases of Spring Boot's web servers and of their graceful shutdown. */
    static final int PHASE = DEFAULT_PHASE - 8192;

    private final RelaySettings settings;
    private final Feed feed;
    private @Nullable volatile OutboxRelay relay;

    /**
     * @param feed a feed that no other relay uses; {@link Feed#NONE} to poll the table
     */
    public RelayLifecycle(RelaySettings settings, Feed feed) {
        this.settings = settings;
        this.feed = feed;
    }

    @Override
    public synchronized void start() {
        if (relay == null) {
            relay = OutboxRelay.start(settings, feed);
        }
    }

    /**
     * Stops the relay. Returns when the current wave is published, or after the time limit of {@link
     * OutboxRelay#close}.
     */
    @Override
    public synchronized void stop() {
        OutboxRelay current = relay;
        relay = null;
        if (current != null) {
            current.close();
        }
    }

    /** Stops the relay if it still runs. */
    @Override
    public void destroy() {
        stop();
    }

    @Override
    public boolean isRunning() {
        return relay != null;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /**
     * Returns the relay, for example to read its status or to retry or skip a blocked event.
     *
     * @throws IllegalStateException if the relay does not run
     */
    public OutboxRelay relay() {
        OutboxRelay current = relay;
        if (current == null) {
            throw new IllegalStateException("the relay of " + settings.table() + " does not run");
        }
        return current;
    }

    /** Makes the relay read its table at once. Does nothing if the relay does not run. Never blocks. */
    public void wake() {
        OutboxRelay current = relay;
        if (current != null) {
            current.wake();
        }
    }
}
