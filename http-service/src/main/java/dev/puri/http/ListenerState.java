package dev.puri.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** State that the event loops of a listener share: number of connections, draining, and counters of exceeded limits. */
final class ListenerState {
    private final int maxConnections;
    private final AtomicInteger connections = new AtomicInteger();
    private volatile boolean isDraining;
    private final Map<Limit, Counter> limited = new EnumMap<>(Limit.class);

    ListenerState(ListenerOptions options, Metrics metrics) {
        this.maxConnections = options.limits().maxConnections();
        Gauge.builder("puri.http.connections", connections, AtomicInteger::get)
                .description("Connections now")
                .tag("listener", options.name())
                .register(metrics.registry());
        for (Limit limit : Limit.values()) {
            limited.put(
                    limit,
                    Counter.builder("puri.http.limited")
                            .description("How often a client ran into a bound")
                            .tag("listener", options.name())
                            .tag("limit", limit.toString())
                            .register(metrics.registry()));
        }
    }

    /** Counts a new connection; returns false, without counting it, if there are too many. */
    boolean opened() {
        if (connections.incrementAndGet() <= maxConnections) {
            return true;
        }
        connections.decrementAndGet();
        count(Limit.CONNECTIONS);
        return false;
    }

    /** Makes the listener respond to every request that the server is stopping. */
    void drain() {
        isDraining = true;
    }

    boolean isDraining() {
        return isDraining;
    }

    void closed() {
        connections.decrementAndGet();
    }

    void count(Limit limit) {
        Objects.requireNonNull(limited.get(limit)).increment();
    }
}
