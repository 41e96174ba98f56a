package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/**
 * Counts of the cache and its feed since the client was opened.
 *
 * @param hits look-ups answered by the cache
 * @param misses look-ups that a resolver had to answer; those of malformed references do not count
 * @param rows approximate number of rows in the cache now
 * @param evictions rows that were evicted because the cache was full
 * @param notKept answers that were not cached because the row may have changed meanwhile
 * @param changes changes and erasures of rows that the feed reported
 * @param resets how often the cache was emptied because changes may have been missed
 * @param connections how often the feed was connected
 * @param feed state of the feed now
 * @param trouble why the last connection of the feed ended; null while there is one
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
        /** There is no connection, so the cache is not used. */
        CONNECTING,
        /** Connected, but changes from before the connection may still be missing, so the cache is not used. */
        CATCHING_UP,
        /** The cache answers. */
        CURRENT
    }
}
