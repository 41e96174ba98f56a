package dev.puri.registry;

import java.time.Duration;

/**
 * Decides when a registrar task publishes its digests: one second after the last change, so that a server can check its
 * copy at rest, and every minute, so that a server that starts or that always has changes can check it too. All times
 * are in ms since the epoch.
 */
final class DigestSchedule {
    static final Duration REST = Duration.ofSeconds(1);
    static final Duration INTERVAL = Duration.ofMinutes(1);

    private boolean hasUnpublishedChange;
    private long lastChangeAt;
    private long publishedAt;

    /** Starts with an unpublished change, because the task may have moved here before it published its last change. */
    DigestSchedule(long now) {
        hasUnpublishedChange = true;
        lastChangeAt = now;
        publishedAt = now;
    }

    void onChange(long now) {
        hasUnpublishedChange = true;
        lastChangeAt = now;
    }

    boolean isDue(long now) {
        return hasUnpublishedChange && now - lastChangeAt >= REST.toMillis()
                || now - publishedAt >= INTERVAL.toMillis();
    }

    void onPublished(long now) {
        hasUnpublishedChange = false;
        publishedAt = now;
    }
}
