package dev.puri.spring.boot;

import dev.puri.client.outbox.RelayStatus;
import dev.puri.schemas.serde.UserInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Caches a relay's status for {@link #MAX_AGE}, because each gauge and health check needs the status, and reading it
 * takes several SQL statements.
 */
final class RelayMonitor {
    static final Duration MAX_AGE = Duration.ofSeconds(2);

    private final Callable<RelayStatus> statusReader;
    private final LongSupplier nanoClock;
    private @Nullable StatusOrError cached;
    private long cachedAtNanos;

    /**
     * The result of reading the status. Either status or error is null.
     *
     * @param error why the status could not be read
     */
    record StatusOrError(
            @Nullable RelayStatus status, @Nullable String error) {}

    RelayMonitor(RelayLifecycle lifecycle) {
        this(() -> lifecycle.relay().status(), System::nanoTime);
    }

    RelayMonitor(Callable<RelayStatus> statusReader, LongSupplier nanoClock) {
        this.statusReader = statusReader;
        this.nanoClock = nanoClock;
    }

    /** Returns a result that is no older than {@link #MAX_AGE}. */
    synchronized StatusOrError read() {
        long now = nanoClock.getAsLong();
        StatusOrError current = cached;
        if (current != null && now - cachedAtNanos < MAX_AGE.toNanos()) {
            return current;
        }
        StatusOrError fresh = readStatus();
        cached = fresh;
        cachedAtNanos = nanoClock.getAsLong();
        return fresh;
    }

    private StatusOrError readStatus() {
        try {
            return new StatusOrError(statusReader.call(), null);
        } catch (SQLException e) {
            return new StatusOrError(
                    null, "the database of the outbox failed: " + UserInfo.masked(String.valueOf(e.getMessage())));
        } catch (Exception e) {
            return new StatusOrError(null, UserInfo.masked(e.toString()));
        }
    }
}
