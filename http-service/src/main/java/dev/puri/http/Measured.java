package dev.puri.http;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** A route with its timers, one for each status it has answered. */
final class Measured {
    private static final Duration[] BUCKETS = {
        Duration.ofNanos(50_000),
        Duration.ofNanos(100_000),
        Duration.ofNanos(250_000),
        Duration.ofNanos(500_000),
        Duration.ofMillis(1),
        Duration.ofNanos(2_500_000),
        Duration.ofMillis(5),
        Duration.ofMillis(10),
        Duration.ofMillis(25),
        Duration.ofMillis(50),
        Duration.ofMillis(100),
        Duration.ofMillis(250),
        Duration.ofSeconds(1),
        Duration.ofSeconds(5),
        Duration.ofSeconds(30)
    };
    private static final int LEAST_STATUS = 100;

    private final String listener;
    private final Route route;
    private final Metrics metrics;
    private final AtomicReferenceArray<@Nullable Timer> timers = new AtomicReferenceArray<>(500);

    Measured(String listener, Route route, Metrics metrics) {
        this.listener = listener;
        this.route = route;
        this.metrics = metrics;
    }

    Route route() {
        return route;
    }

    void record(int status, long nanos) {
        Timer timer = timers.get(status - LEAST_STATUS);
        if (timer == null) {
            // The registry gives the same one to all that ask for it.
            timer = timer(status);
            timers.set(status - LEAST_STATUS, timer);
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
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
