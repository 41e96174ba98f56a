package dev.puri.tail;

import java.util.Map;
import java.util.function.IntToLongFunction;
import org.apache.kafka.common.Uuid;

/**
 * The end offsets of a topic, with the topic's id: a topic that was deleted and created again has its name, and another
 * id.
 *
 * @param ends the last stable offset of each partition: every transaction before it is decided
 */
public record TopicEnds(Uuid topicId, EndOffsets ends) {
    /** The offset at which each partition ends. */
    public Map<Integer, Long> byPartition() {
        return ends.byPartition();
    }

    /** When the brokers were asked. */
    public ObservationTime at() {
        return ends.at();
    }

    /**
     * Offsets between a reader and the ends, summed over the partitions.
     *
     * @param nextOffset by partition, the offset that the reader reads next
     */
    public long lag(IntToLongFunction nextOffset) {
        return ends.lag(nextOffset);
    }

    /** Whether both are of the same topic, with as many partitions. */
    public boolean isOfTheSameTopic(TopicEnds other) {
        return topicId.equals(other.topicId)
                && byPartition().keySet().equals(other.byPartition().keySet());
    }
}
