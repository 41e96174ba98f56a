package dev.puri.projection;

import java.util.Map;
import java.util.function.IntToLongFunction;
import org.apache.kafka.common.Uuid;

/**
 * {@link EndOffsets} with the id of their topic. A topic that was deleted and created again has the same name but
 * another id.
 *
 * @param ends the last stable offset of each partition: every transaction before it has ended
 */
public record TopicEnds(Uuid topicId, EndOffsets ends) {
    /** Returns the end offset of each partition. */
    public Map<Integer, Long> byPartition() {
        return ends.byPartition();
    }

    /** Returns the time just before the brokers were asked for the offsets. */
    public ObservationTime at() {
        return ends.at();
    }

    /**
     * Returns the reader's lag: the number of offsets to the ends, summed over the partitions.
     *
     * @param nextOffset maps a partition to the offset that the reader reads next
     */
    public long lag(IntToLongFunction nextOffset) {
        return ends.lag(nextOffset);
    }

    /** Returns whether both are end offsets of the same topic, with the same partitions. */
    public boolean isOfTheSameTopic(TopicEnds other) {
        return topicId.equals(other.topicId)
                && byPartition().keySet().equals(other.byPartition().keySet());
    }
}
