package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/**
 * What the cache and its feed have done since the client was opened.
 *
 * @param hits look-ups answered by the cache
 * @param misses look-ups that a resolver had to answer, all those of malformed references aside
 * @param rows in the cache now, about
 * @param evictions rows that left because the cache was full
 * @param notKept answers that were not cached because the row may have changed meanwhile
 * @param changes changes and erasures of rows that the feed reported
 * @param resets how often everything was dropped, because changes may have been missed
 * @param connections how often the feed was connected
 * @param feed whether changes are followed now
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
    /** Whether changes are followed. */
    public enum Feed {
        /** There is no cache, or it is closed. */
        OFF,
        /** There is no connection, so the cache is not used. */
        CONNECTING,
        /** Changes of the time without a connection are still to come, so the cache is not used. */
        CATCHING_UP,
        /** The cache answers. */
        CURRENT
    }
}
