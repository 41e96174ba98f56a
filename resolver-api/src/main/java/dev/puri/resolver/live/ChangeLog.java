package dev.puri.resolver.live;

import org.jspecify.annotations.Nullable;

/** All changes that the topic still has, also those that are older than the ring. */
interface ChangeLog {
    /** Receives the changes. */
    @FunctionalInterface
    interface Taker {
        /**
         * Takes one record.
         *
         * @param next the offset after this record
         * @param change null when the record changes nothing
         * @return whether to continue
         */
        boolean take(int partition, long next, @Nullable Change change);
    }

    /** A part of the requested changes was deleted. */
    final class GoneException extends Exception {
        private static final long serialVersionUID = 1L;

        GoneException(String message) {
            super(message);
        }
    }

    /**
     * Reads the changes between two offsets, and perhaps some after, in the order of each partition. Returns at the
     * end, or when the taker returns false.
     *
     * @param from by partition, the first offset
     * @param to by partition, the offset after the last
     * @throws GoneException when the log begins after the first offset; the taker has received nothing then
     * @throws RuntimeException when the log cannot be read now
     */
    void read(long[] from, long[] to, Taker taker) throws GoneException;
}
