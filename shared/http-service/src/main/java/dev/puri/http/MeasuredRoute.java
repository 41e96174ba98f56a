package dev.puri.http;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/** A route and its timers, one per response status. */
final class MeasuredRoute {
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
    private static final int MIN_STATUS = 100;

    private final String listener;
    private final Route route;
    private final Metrics metrics;
    private final AtomicReferenceArray<@Nullable Timer> timers = new AtomicReferenceArray<>(500);

    MeasuredRoute(String listener, Route route, Metrics metrics) {
        this.listener = listener;
        this.route = route;
        this.metrics = metrics;
    }

    Route route() {
        return route;
    }

    void record(int status, long durationNanos) {
        Timer timer = timers.get(status - MIN_STATUS);
        if (timer == null) {
            // If two threads race, the registry returns the same timer to both.
            timer = timer(status);
            timers.set(status - MIN_STATUS, timer);
        }
        timer.record(durationNanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(int status) {
        return Timer.builder("puri.http.requests")
                .description("Time from the end of the request's headers to the start of the response")
                .tag("listener", listener)
                .tag("method", route.method())
                .tag("route", route.path())
                .tag("status", Integer.toString(status))
                .serviceLevelObjectives(BUCKETS)
                .register(metrics.registry());
    }
}
