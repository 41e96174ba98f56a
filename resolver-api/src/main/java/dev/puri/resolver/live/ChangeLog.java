package dev.puri.resolver.live;

import org.jspecify.annotations.Nullable;

/** All changes that are still there, older ones than any ring has among them. */
interface ChangeLog {
    /** Takes what is read. */
    @FunctionalInterface
    interface Taker {
        /**
         * Takes one record.
         *
         * @param next the offset up to which the partition has been read, this change included
         * @param change null when what was read changed nothing
         * @return whether to read on
         */
        boolean take(int partition, long next, @Nullable Change change);
    }

    /** A part of what was to be read is there no more. */
    final class GoneException extends Exception {
        private static final long serialVersionUID = 1L;

        GoneException(String message) {
            super(message);
        }
    }

    /**
     * Reads the changes between, and perhaps some after, in the order of each partition. Returns when
     * there are no more, or none is wanted.
     *
     * @param from by partition, the first offset
     * @param to by partition, the offset after the last
     * @throws GoneException when the log begins after that; nothing has been taken then
     * @throws RuntimeException when the log cannot be read for now
     */
    void read(long[] from, long[] to, Taker taker) throws GoneException;
}
