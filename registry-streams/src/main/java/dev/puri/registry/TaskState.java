package dev.puri.registry;

import dev.puri.schemas.log.PartitionDigest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The counts and the digests of a registrar task, which are one value of its counts store.
 *
 * <p>Counts and digests are in one value because an earlier release reads and writes only the counts. If it runs in
 * between, the next release finds no digests. Beside the counts it would find digests that lack some changes.
 *
 * @param digests null if the state is of an earlier release that has read events and kept no digests
 */
record TaskState(EventCounts counts, @Nullable TaskDigests digests) {
    /** The state of a task that has read no event. */
    static final TaskState NEW = new TaskState(EventCounts.NONE, TaskDigests.EMPTY);

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

    static TaskState fromBytes(byte[] value) {
        ByteBuffer bytes = ByteBuffer.wrap(value);
        EventCounts counts = EventCounts.readFrom(bytes);
        if (!bytes.hasRemaining()) {
            return new TaskState(counts, counts.read() == 0 ? TaskDigests.EMPTY : null);
        }
        return new TaskState(
                counts,
                new TaskDigests(
                        new PartitionDigest(bytes.getLong(), bytes.getLong()),
                        new PartitionDigest(bytes.getLong(), bytes.getLong())));
    }
}
