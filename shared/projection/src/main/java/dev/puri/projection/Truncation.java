package dev.puri.projection;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Detects a compacted topic whose first records were deleted. Compaction never moves the log start offset, so it is 0
 * unless an operator or another cleanup policy deleted records. A copy that is filled from such a topic lacks rows.
 */
public final class Truncation {
    private Truncation() {}

    /**
     * Returns which partition lost records and how to restore them, as text for people; null if none did.
     *
     * @param logStartOffsets by partition, the offset of the first record that the brokers still have
     */
    public static @Nullable String reason(String topic, Map<Integer, Long> logStartOffsets) {
        String deletedRecords = deletedRecords(topic, logStartOffsets);
        return deletedRecords == null
                ? null
                : deletedRecords + ", so the topic lacks rows; restore the topic, see \"Deleted records\" in"
                        + " docs/operations.md";
    }

    /**
     * Returns which partition lost records, as the beginning of a text for people; null if none did.
     *
     * @param logStartOffsets by partition, the offset of the first record that the brokers still have
     */
    public static @Nullable String deletedRecords(String topic, Map<Integer, Long> logStartOffsets) {
        for (Map.Entry<Integer, Long> partition : new TreeMap<>(logStartOffsets).entrySet()) {
            if (partition.getValue() > 0) {
                return "records of partition " + partition.getKey() + " of " + topic + " before offset "
                        + partition.getValue() + " were deleted";
            }
        }
        return null;
    }
}
