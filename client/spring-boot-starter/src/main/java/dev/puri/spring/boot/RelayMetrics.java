package dev.puri.spring.boot;

import dev.puri.client.outbox.RelayStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Instant;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Registers the Micrometer gauges of the outbox relays, with the tag {@code relay}. The values are NaN while the outbox
 * cannot be read.
 */
final class RelayMetrics implements MeterBinder {
    private final RelayMonitors monitors;

    RelayMetrics(RelayMonitors monitors) {
        this.monitors = monitors;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        monitors.byRelay().forEach((name, monitor) -> {
            add(
                    registry,
                    name,
                    monitor,
                    "puri.outbox.waiting",
                    null,
                    "Rows not published yet, without blocked rows; counted up to 10000",
                    status -> status.waiting());
            add(
                    registry,
                    name,
                    monitor,
                    "puri.outbox.lag",
                    "seconds",
                    "Age of the oldest waiting row",
                    status -> RelayHealth.lag(status, Instant.now()).toMillis() / 1000.0);
            add(
                    registry,
                    name,
                    monitor,
                    "puri.outbox.blocked",
                    null,
                    "Blocked rows; counted up to 10000",
                    status -> status.blockedRows());
            add(
                    registry,
                    name,
                    monitor,
                    "puri.outbox.leads",
                    null,
                    "1 if this instance is the leader, which publishes",
                    status -> status.leads() ? 1 : 0);
        });
    }

    private static void add(
            MeterRegistry registry,
            String relay,
            RelayMonitor monitor,
            String name,
            @Nullable String unit,
            String description,
            ToDoubleFunction<RelayStatus> value) {
        Gauge.builder(name, () -> {
                    RelayStatus status = monitor.read().status();
                    return status == null ? Double.NaN : value.applyAsDouble(status);
                })
                .tag("relay", relay)
                .baseUnit(unit)
                .description(description)
                .register(registry);
    }
}
