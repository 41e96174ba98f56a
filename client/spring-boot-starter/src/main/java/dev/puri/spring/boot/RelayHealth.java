package dev.puri.spring.boot;

import dev.puri.client.outbox.RelayStatus;
import dev.puri.client.outbox.RelayStatus.BlockedPuri;
import dev.puri.schemas.serde.UserInfo;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports whether committed events are published: DOWN if the outbox cannot be read or rows have waited for too long, BLOCKED if rows
 * are blocked, else UP.
 *
 * <p>A short outage of the brokers does not make the application DOWN, because its transactions go on.
 */
final class RelayHealth {
    private static final int MAX_BLOCKED_PURIS = 10;

    private final RelayMonitors monitors;
    private final Duration maxLag;
    private final InstantSource clock;

    RelayHealth(RelayMonitors monitors, Duration maxLag, InstantSource clock) {
        this.monitors = monitors;
        this.maxLag = maxLag;
        this.clock = clock;
    }

    HealthReport report() {
        Map<String, HealthReport> parts = new LinkedHashMap<>();
        monitors.byRelay().forEach((name, monitor) -> {
            RelayMonitor.Reading reading = monitor.read();
            parts.put(name, report(reading.status(), reading.error(), maxLag, clock.instant()));
        });
        return HealthReport.of(parts);
    }

    static HealthReport report(@Nullable RelayStatus status, @Nullable String error, Duration maxLag, Instant now) {
        Map<String, Object> details = new LinkedHashMap<>();
        if (status == null) {
            details.put("error", String.valueOf(error));
            return new HealthReport(HealthReport.DOWN, details);
        }
        Duration lag = lag(status, now);
        details.put("leads", status.leads());
        details.put("waiting", status.waiting());
        details.put("lag", lag.toString());
        details.put("blockedRows", status.blockedRows());
        if (!status.blocked().isEmpty()) {
            details.put("blocked", blocked(status.blocked()));
        }
        String problem = status.problem();
        if (problem != null) {
            details.put("problem", UserInfo.masked(problem));
        }
        if (lag.compareTo(maxLag) > 0) {
            return new HealthReport(HealthReport.DOWN, details);
        }
        return new HealthReport(status.blockedRows() > 0 ? HealthReport.BLOCKED : HealthReport.UP, details);
    }

    /** The age of the oldest waiting row that is not blocked; zero if there is none. */
    static Duration lag(RelayStatus status, Instant now) {
        Instant oldest = status.oldestWaiting();
        return oldest == null || oldest.isAfter(now) ? Duration.ZERO : Duration.between(oldest, now);
    }

    private static List<Map<String, Object>> blocked(List<BlockedPuri> all) {
        return all.stream()
                .limit(MAX_BLOCKED_PURIS)
                .map(each -> Map.<String, Object>of(
                        "puri", each.puri(),
                        "eventId", each.eventId().toString(),
                        "attempts", each.attempts(),
                        "reason", each.reason()))
                .toList();
    }
}
