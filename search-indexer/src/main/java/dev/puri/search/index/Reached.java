package dev.puri.search.index;

import java.util.Map;

/**
 * How far an index goes: of each kind's topic which it is, and for each partition the offset before
 * which everything is in.
 *
 * @param topicIds by kind Kafka's id of the topic; another id is another topic of the same name
 * @param offsets by kind and partition
 */
public record Reached(Map<Kind, String> topicIds, Map<Kind, Map<Integer, Long>> offsets) {
    /** Of an index that has nothing yet. */
    public static final Reached NOTHING = new Reached(Map.of(), Map.of());

    public Reached {
        topicIds = Map.copyOf(topicIds);
        offsets = Map.copyOf(offsets);
    }

    /** The offset that is read next; 0 where nothing was read. */
    public long next(Kind kind, int partition) {
        return offsets.getOrDefault(kind, Map.of()).getOrDefault(partition, 0L);
    }
}
