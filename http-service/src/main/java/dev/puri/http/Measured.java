package dev.puri.http;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A route with its timers, one for each status it has answered. */
final class Measured {
    private static final Duration[] BUCKETS = {
        Duration.ofMillis(1), Duration.ofMillis(5), Duration.ofMillis(10), Duration.ofMillis(25),
        Duration.ofMillis(50), Duration.ofMillis(100), Duration.ofMillis(250), Duration.ofSeconds(1)
    };

    private final String listener;
    private final Route route;
    private final Metrics metrics;
    private final Map<Integer, Timer> timers = new ConcurrentHashMap<>();

    Measured(String listener, Route route, Metrics metrics) {
        this.listener = listener;
        this.route = route;
        this.metrics = metrics;
    }

    Route route() {
        return route;
    }

    void record(int status, long nanos) {
        timers.computeIfAbsent(status, this::timer).record(nanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(int status) {
        return Timer.builder("puri.http.requests")
                .description("Requests from head to answer")
                .tag("listener", listener)
                .tag("method", route.method())
                .tag("route", route.path())
                .tag("status", Integer.toString(status))
                .serviceLevelObjectives(BUCKETS)
                .register(metrics.registry());
    }
}
