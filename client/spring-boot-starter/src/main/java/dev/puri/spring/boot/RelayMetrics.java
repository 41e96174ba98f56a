package dev.puri.spring.boot;

import dev.puri.client.outbox.RelayStatus;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Instant;
import java.util.function.ToDoubleFunction;

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
        monitors.byRelay().forEach((relay, monitor) -> {
            gauge("puri.outbox.waiting", relay, monitor, RelayStatus::waiting)
                    .description("Rows not published yet, without blocked rows; counted up to 10000")
                    .register(registry);
            gauge("puri.outbox.lag", relay, monitor, RelayMetrics::lagSeconds)
                    .baseUnit("seconds")
                    .description("Age of the oldest waiting row")
                    .register(registry);
            gauge("puri.outbox.blocked", relay, monitor, RelayStatus::blockedRows)
                    .description("Blocked rows; counted up to 10000")
                    .register(registry);
            gauge("puri.outbox.leads", relay, monitor, status -> status.leads() ? 1 : 0)
                    .description("1 if this instance is the leader, which publishes")
                    .register(registry);
        });
    }

    private static double lagSeconds(RelayStatus status) {
        return RelayHealth.lag(status, Instant.now()).toMillis() / 1000.0;
    }

    private static Gauge.Builder<?> gauge(
            String name, String relay, RelayMonitor monitor, ToDoubleFunction<RelayStatus> value) {
        return Gauge.builder(name, () -> {
                    RelayStatus status = monitor.read().status();
                    return status == null ? Double.NaN : value.applyAsDouble(status);
                })
                .tag("relay", relay);
    }
}
