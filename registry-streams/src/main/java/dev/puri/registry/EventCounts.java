package dev.puri.registry;

import java.nio.ByteBuffer;

/**
 * Numbers of events that the registrar has read since the registry was created, in total and by outcome. At every
 * commit {@code read = applied + unchanged + refused + parked}.
 *
 * @param parked number of events that wait at present, for a grant, a schema or a declaration
 * @param strayGrants number of grants for which no event waited; they are harmless and not part of {@code read}
 */
public record EventCounts(long read, long applied, long unchanged, long refused, long parked, long strayGrants) {
    static final EventCounts NONE = new EventCounts(0, 0, 0, 0, 0, 0);

    /** The size of the encoded counts. */
    static final int BYTES = 6 * Long.BYTES;

    /** Whether each event that was read has an outcome or is parked. */
    public boolean isBalanced() {
        return read == applied + unchanged + refused + parked;
    }

    EventCounts plus(EventCounts other) {
        return new EventCounts(
                read + other.read,
                applied + other.applied,
                unchanged + other.unchanged,
                refused + other.refused,
                parked + other.parked,
                strayGrants + other.strayGrants);
    }

    void writeTo(ByteBuffer bytes) {
        bytes.putLong(read)
                .putLong(applied)
                .putLong(unchanged)
                .putLong(refused)
                .putLong(parked)
                .putLong(strayGrants);
    }

    static EventCounts readFrom(ByteBuffer bytes) {
        return new EventCounts(
                bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
    }

    /** The mutable counts of one task. */
    static final class Counter {
        private long read;
        private long applied;
        private long unchanged;
        private long refused;
        private long parked;
        private long strayGrants;

        Counter(EventCounts initial) {
            read = initial.read;
            applied = initial.applied;
            unchanged = initial.unchanged;
            refused = initial.refused;
            parked = initial.parked;
            strayGrants = initial.strayGrants;
        }

        void countRead() {
            read++;
        }

        void countApplied() {
            applied++;
        }

        void countUnchanged() {
            unchanged++;
        }

        void countRefused() {
            refused++;
        }

        void countParked() {
            parked++;
        }

        void countUnparked() {
            parked--;
        }

        void countStrayGrant() {
            strayGrants++;
        }

        EventCounts counts() {
            return new EventCounts(read, applied, unchanged, refused, parked, strayGrants);
        }
    }
}
