package dev.puri.resolver.live;

import org.jspecify.annotations.Nullable;

/** Reads changes from {@code puri.identities.v1}, also changes that are no longer in the {@link ChangeRing}. */
interface ChangeLog {
    /** Receives the records of the topic. */
    @FunctionalInterface
    interface Receiver {
        /**
         * Receives one record.
         *
         * @param nextOffset the offset after this record
         * @param change null if the record changes nothing
         * @return whether to continue
         */
        boolean receive(int partition, long nextOffset, @Nullable Change change);
    }

    /** Some of the requested changes were deleted from the topic. */
    final class GoneException extends Exception {
        private static final long serialVersionUID = 1L;

        GoneException(String message) {
            super(message);
        }
    }

    /**
     * Reads, for each partition, the changes between two offsets in the order of the offsets; may also read some later
     * changes. Returns at the end, or when the receiver returns false.
     *
     * @param from by partition, the first offset to read
     * @param to by partition, the offset after the last record
     * @throws GoneException if a partition begins after {@code from}; the receiver has received nothing then
     * @throws RuntimeException if the topic cannot be read now
     */
    void read(long[] from, long[] to, Receiver receiver) throws GoneException;
}
