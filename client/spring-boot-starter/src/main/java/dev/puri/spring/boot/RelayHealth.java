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
 * Reports whether the events in the outbox are published: DOWN if the outbox cannot be read or a row has waited for too
 * long, BLOCKED if rows are blocked, otherwise UP.
 *
 * <p>A short failure of the brokers does not make the application DOWN, because the application can still commit
 * transactions.
 */
final class RelayHealth {
    private static final int MAX_LISTED_PURIS = 10;

    private final RelayMonitors monitors;
    private final Duration maxLag;
    private final InstantSource clock;

    RelayHealth(RelayMonitors monitors, Duration maxLag, InstantSource clock) {
        this.monitors = monitors;
        this.maxLag = maxLag;
        this.clock = clock;
    }

    HealthReport report() {
        Map<String, HealthReport> reports = new LinkedHashMap<>();
        monitors.byRelay().forEach((name, monitor) -> {
            RelayMonitor.StatusOrError read = monitor.read();
            reports.put(name, report(read.status(), read.error(), maxLag, clock.instant()));
        });
        return HealthReport.of(reports);
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
            details.put("blocked", blockedDetails(status.blocked()));
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

    /** Returns the age of the oldest waiting row that is not blocked; zero if no row waits. */
    static Duration lag(RelayStatus status, Instant now) {
        Instant oldest = status.oldestWaiting();
        return oldest == null || oldest.isAfter(now) ? Duration.ZERO : Duration.between(oldest, now);
    }

    private static List<Map<String, Object>> blockedDetails(List<BlockedPuri> blockedPuris) {
        return blockedPuris.stream()
                .limit(MAX_LISTED_PURIS)
                .map(blocked -> Map.<String, Object>of(
                        "puri", blocked.puri(),
                        "eventId", blocked.eventId().toString(),
                        "attempts", blocked.attempts(),
                        "reason", blocked.reason()))
                .toList();
    }
}
