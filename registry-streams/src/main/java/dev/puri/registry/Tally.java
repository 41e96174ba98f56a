package dev.puri.registry;

import java.nio.ByteBuffer;

/**
 * What the registrar did with every event it ever read: {@code read = applied + unchanged + refused +
 * parked}, at every commit.
 *
 * @param parked waiting now, for a grant, a schema or a declaration
 * @param strayGrants answers of the clerk that nobody waited for (any more); harmless, and not events
 */
public record Tally(long read, long applied, long unchanged, long refused, long parked, long strayGrants) {
    static final Tally NONE = new Tally(0, 0, 0, 0, 0, 0);
    private static final int FIELDS = 6;

    /** Whether every event that was read is accounted for. */
    public boolean isBalanced() {
        return read == applied + unchanged + refused + parked;
    }

    Tally plus(Tally other) {
        return new Tally(
                read + other.read,
                applied + other.applied,
                unchanged + other.unchanged,
                refused + other.refused,
                parked + other.parked,
                strayGrants + other.strayGrants);
    }

    byte[] toBytes() {
        return ByteBuffer.allocate(FIELDS * Long.BYTES)
                .putLong(read)
                .putLong(applied)
                .putLong(unchanged)
                .putLong(refused)
                .putLong(parked)
                .putLong(strayGrants)
                .array();
    }

    static Tally fromBytes(byte[] value) {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        return new Tally(
                bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
    }

    /** A tally being kept by one task. */
    static final class Counter {
        private long read;
        private long applied;
        private long unchanged;
        private long refused;
        private long parked;
        private long strayGrants;

        Counter(Tally from) {
            read = from.read;
            applied = from.applied;
            unchanged = from.unchanged;
            refused = from.refused;
            parked = from.parked;
            strayGrants = from.strayGrants;
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

        Tally tally() {
            return new Tally(read, applied, unchanged, refused, parked, strayGrants);
        }
    }
}
