package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import java.time.Duration;

/**
 * Bounds of the change feed.
 *
 * @param history changes that each table's ring has
 * @param maxAge how long it has them
 * @param maxStreams subscribers at a time
 * @param maxReplays subscribers at a time to whom older changes are read from the topic
 * @param pendingBytes bytes given to a sink and not taken by its reader, at which no more is given
 * @param heartbeat how often a subscriber to whom nothing is told is told how far he has been told
 * @param forgotten how old an id may be before tombstones after it may be gone from the topic
 * @param patience how long a reader of older changes may take nothing before he is dropped
 */
public record ChangesOptions(
        int history,
        Duration maxAge,
        int maxStreams,
        int maxReplays,
        int pendingBytes,
        Duration heartbeat,
        Duration forgotten,
        Duration patience) {
    /** Tombstones are kept for 7 days. */
    private static final Duration FORGOTTEN = Duration.ofDays(6);

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MAX_REPLAYS = 4;

    /** More than any event has. */
    private static final int ONE_EVENT = 64 << 10;

    public ChangesOptions {
        if (history < 1 || maxStreams < 1 || maxReplays < 1 || pendingBytes < 1) {
            throw new IllegalArgumentException("every bound is at least 1");
        }
    }

    /** With what is not set by anybody. */
    public static ChangesOptions of(
            int history, Duration maxAge, int maxStreams, int pendingBytes, Duration heartbeat) {
        return new ChangesOptions(
                history, maxAge, maxStreams, MAX_REPLAYS, pendingBytes, heartbeat, FORGOTTEN, PATIENCE);
    }

    /** What the streams must be able to take. */
    public EventStream.Options terms() {
        return new EventStream.Options(pendingBytes + ONE_EVENT, heartbeat);
    }
}
