package dev.puri.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** The state that the event loops of a listener share: number of connections, draining, counters of exceeded limits. */
final class ListenerState {
    private final int maxConnections;
    private final AtomicInteger connectionCount = new AtomicInteger();
    private volatile boolean isDraining;
    private final Map<Limit, Counter> exceededCounters = new EnumMap<>(Limit.class);

    ListenerState(ListenerOptions options, Metrics metrics) {
        this.maxConnections = options.limits().maxConnections();
        Gauge.builder("puri.http.connections", connectionCount, AtomicInteger::get)
                .description("Open connections")
                .tag("listener", options.name())
                .register(metrics.registry());
        for (Limit limit : Limit.values()) {
            exceededCounters.put(
                    limit,
                    Counter.builder("puri.http.limited")
                            .description("Number of times that a limit was exceeded")
                            .tag("listener", options.name())
                            .tag("limit", limit.toString())
                            .register(metrics.registry()));
        }
    }

    /** Counts a new connection. Returns false, without counting it, if there are too many. */
    boolean tryAddConnection() {
        if (connectionCount.incrementAndGet() <= maxConnections) {
            return true;
        }
        connectionCount.decrementAndGet();
        countExceeded(Limit.CONNECTIONS);
        return false;
    }

    /** Starts draining: from now on the listener refuses every request with the problem {@code draining}. */
    void drain() {
        isDraining = true;
    }

    boolean isDraining() {
        return isDraining;
    }

    void removeConnection() {
        connectionCount.decrementAndGet();
    }

    void countExceeded(Limit limit) {
        Objects.requireNonNull(exceededCounters.get(limit)).increment();
    }
}
