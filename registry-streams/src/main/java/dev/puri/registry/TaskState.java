package dev.puri.registry;

import dev.puri.schemas.log.PartitionDigest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The counts and the digests of a registrar task, which are one value of its counts store.
 *
 * <p>Both are in one value, because an earlier release writes only the counts. After a downgrade to it and an upgrade,
 * the value has no digests, so they are known to be missing. Digests in a value of their own would remain, but lack the
 * changes of the time in between.
 *
 * @param digests null if they are unknown, because an earlier release that kept no digests has read events, or because
 *     a part of the state was lost
 */
record TaskState(EventCounts counts, @Nullable TaskDigests digests) {
    private static final int DIGESTS_BYTES = 4 * Long.BYTES;

    byte[] toBytes() {
        ByteBuffer bytes = ByteBuffer.allocate(EventCounts.BYTES + (digests == null ? 0 : DIGESTS_BYTES));
        counts.writeTo(bytes);
        if (digests != null) {
            bytes.putLong(digests.identities().rows())
                    .putLong(digests.identities().sum())
                    .putLong(digests.documents().rows())
                    .putLong(digests.documents().sum());
        }
        return bytes.array();
    }

    /**
     * Returns the state of a task that starts. A task without registrations that has read no event is new, and its
     * digests are empty. If a task has registrations but has counted no event, its counts store was lost, and its
     * digests remain unknown.
     *
     * @param stored the value in the counts store; null if there is none
     * @param hasRegistrations whether the task has registrations of pURIs
     */
    static TaskState restore(byte @Nullable [] stored, boolean hasRegistrations) {
        TaskState state = stored == null ? new TaskState(EventCounts.NONE, null) : fromBytes(stored);
        boolean isNew = state.digests() == null && state.counts().read() == 0 && !hasRegistrations;
        return isNew ? new TaskState(state.counts(), TaskDigests.EMPTY) : state;
    }

    private static TaskState fromBytes(byte[] value) {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        EventCounts counts = EventCounts.readFrom(bytes);
        if (!bytes.hasRemaining()) {
            return new TaskState(counts, null);
        }
        return new TaskState(
                counts,
                new TaskDigests(
                        new PartitionDigest(bytes.getLong(), bytes.getLong()),
                        new PartitionDigest(bytes.getLong(), bytes.getLong())));
    }
}
