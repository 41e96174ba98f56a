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
    static final EventCounts READ = new EventCounts(1, 0, 0, 0, 0, 0);
    static final EventCounts APPLIED = new EventCounts(0, 1, 0, 0, 0, 0);
    static final EventCounts UNCHANGED = new EventCounts(0, 0, 1, 0, 0, 0);
    static final EventCounts REFUSED = new EventCounts(0, 0, 0, 1, 0, 0);
    static final EventCounts PARKED = new EventCounts(0, 0, 0, 0, 1, 0);
    static final EventCounts UNPARKED = new EventCounts(0, 0, 0, 0, -1, 0);
    static final EventCounts STRAY_GRANT = new EventCounts(0, 0, 0, 0, 0, 1);

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
}
