package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import java.time.Duration;

/**
 * Bounds of the change feed.
 *
 * @param history maximum number of changes in the ring of a table
 * @param maxAge how long the ring keeps a change
 * @param maxStreams maximum number of subscribers at a time
 * @param maxReplays maximum number of subscribers at a time that read older changes from the topic
 * @param pendingBytes a stream with this number of unread bytes receives no further changes
 * @param heartbeat how often an idle subscriber receives an event with its id
 * @param maxIdAge maximum age of an id; the topic may have lost tombstones that are newer than an older id
 * @param stallTimeout how long a subscriber may read nothing during a replay before it is dropped
 */
public record ChangesOptions(
        int history,
        Duration maxAge,
        int maxStreams,
        int maxReplays,
        int pendingBytes,
        Duration heartbeat,
        Duration maxIdAge,
        Duration stallTimeout) {
    /** The brokers keep tombstones for 7 days. */
    private static final Duration MAX_ID_AGE = Duration.ofDays(6);

    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_REPLAYS = 4;

    /** Upper bound of the size of an event. */
    private static final int MAX_EVENT_BYTES = 64 << 10;

    public ChangesOptions {
        if (history < 1 || maxStreams < 1 || maxReplays < 1 || pendingBytes < 1) {
            throw new IllegalArgumentException("every limit must be at least 1");
        }
    }

    /** Returns options with these values, and with defaults for the values that are not settings. */
    public static ChangesOptions of(
            int history, Duration maxAge, int maxStreams, int pendingBytes, Duration heartbeat) {
        return new ChangesOptions(
                history, maxAge, maxStreams, MAX_REPLAYS, pendingBytes, heartbeat, MAX_ID_AGE, STALL_TIMEOUT);
    }

    /** Returns options under which a stream accepts one more event when {@link #pendingBytes} are not yet reached. */
    public EventStream.Options streamOptions() {
        return new EventStream.Options(pendingBytes + MAX_EVENT_BYTES, heartbeat);
    }
}
