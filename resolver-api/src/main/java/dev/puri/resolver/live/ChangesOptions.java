package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import java.time.Duration;

/**
 * Bounds of the change feed.
 *
 * @param history changes in the ring of each table
 * @param maxAge how long the ring holds a change
 * @param maxStreams subscribers at a time
 * @param maxReplays subscribers at a time that read older changes from the topic
 * @param pendingBytes unread bytes of a stream at which it receives no more
 * @param heartbeat how often an idle subscriber receives an event with its id
 * @param forgotten the age of an id from which on tombstones after it may be gone from the topic
 * @param stallTimeout how long a subscriber may read nothing during a replay before it is dropped
 */
public record ChangesOptions(
        int history,
        Duration maxAge,
        int maxStreams,
        int maxReplays,
        int pendingBytes,
        Duration heartbeat,
        Duration forgotten,
        Duration stallTimeout) {
    /** The brokers keep tombstones for 7 days. */
    private static final Duration FORGOTTEN = Duration.ofDays(6);

    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_REPLAYS = 4;

    /** Larger than any event. */
    private static final int ONE_EVENT = 64 << 10;

    public ChangesOptions {
        if (history < 1 || maxStreams < 1 || maxReplays < 1 || pendingBytes < 1) {
            throw new IllegalArgumentException("every bound is at least 1");
        }
    }

    /** The given bounds, with defaults for those that are no settings. */
    public static ChangesOptions of(
            int history, Duration maxAge, int maxStreams, int pendingBytes, Duration heartbeat) {
        return new ChangesOptions(
                history, maxAge, maxStreams, MAX_REPLAYS, pendingBytes, heartbeat, FORGOTTEN, STALL_TIMEOUT);
    }

    /** What the streams must be able to take. */
    public EventStream.Options streamOptions() {
        return new EventStream.Options(pendingBytes + ONE_EVENT, heartbeat);
    }
}
