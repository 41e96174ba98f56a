package dev.puri.spring.boot;

import dev.puri.client.outbox.RelayStatus;
import dev.puri.schemas.serde.UserInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Caches a relay's status for {@link #MAX_AGE}, because reading it takes several statements and each gauge and health check asks for it. */
final class RelayMonitor {
    static final Duration MAX_AGE = Duration.ofSeconds(2);

    private final Callable<RelayStatus> source;
    private final LongSupplier nanoTime;
    private @Nullable Reading last;
    private long readNanos;

    /**
     * The result of reading the status. One of the two is null.
     *
     * @param error why there is no status
     */
    record Reading(@Nullable RelayStatus status, @Nullable String error) {}

    RelayMonitor(RelayLifecycle lifecycle) {
        this(() -> lifecycle.relay().status(), System::nanoTime);
    }

    RelayMonitor(Callable<RelayStatus> source, LongSupplier nanoTime) {
        this.source = source;
        this.nanoTime = nanoTime;
    }

    /** Returns a reading that is no older than {@link #MAX_AGE}. */
    synchronized Reading read() {
        long now = nanoTime.getAsLong();
        Reading known = last;
        if (known != null && now - readNanos < MAX_AGE.toNanos()) {
            return known;
        }
        Reading fresh = ask();
        last = fresh;
        readNanos = nanoTime.getAsLong();
        return fresh;
    }

    private Reading ask() {
        try {
            return new Reading(source.call(), null);
        } catch (SQLException e) {
            return new Reading(
                    null, "the database of the outbox fails: " + UserInfo.masked(String.valueOf(e.getMessage())));
        } catch (Exception e) {
            return new Reading(null, UserInfo.masked(e.toString()));
        }
    }
}
