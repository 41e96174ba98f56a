package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/**
 * Statistics of the cache and of its feed of changes. Counts begin when the client is opened.
 *
 * @param hits number of look-ups that the cache answered
 * @param misses number of look-ups that a resolver had to answer; look-ups of malformed references do not count
 * @param rows approximate current number of rows in the cache
 * @param evictions number of rows that were evicted because the cache was full
 * @param notKept number of answers that were not cached because the row may have changed since the request
 * @param changes number of changes and erasures of rows that the feed reported
 * @param resets number of times that the cache was cleared because changes may have been missed
 * @param connections number of connections that the feed has opened
 * @param feed current state of the feed
 * @param trouble why the last connection of the feed ended; null while the feed is connected
 */
public record CacheStatistics(
        long hits,
        long misses,
        long rows,
        long evictions,
        long notKept,
        long changes,
        long resets,
        long connections,
        Feed feed,
        @Nullable String trouble) {
    /** State of the feed. */
    public enum Feed {
        /** There is no cache, or it is closed. */
        OFF,
        /** The feed is not connected, so the cache is not used. */
        CONNECTING,
        /** Connected, but changes from before the connection may still be missing, so the cache is not used. */
        CATCHING_UP,
        /** Connected and up to date, so the cache is used. */
        CURRENT
    }
}
