package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.tail.BrokerTopic.Extent;
import dev.puri.tail.Moment;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Both topics, as the brokers told of them.
 *
 * @param extents by kind
 * @param begins by kind and partition the first offset that there is
 * @param at before they were asked: of what is written while they answer they may not tell
 */
record Sighting(Map<EntryKind, Extent> extents, Map<EntryKind, Map<Integer, Long>> begins, Moment at) {
    Sighting {
        extents = Map.copyOf(extents);
        begins = Map.copyOf(begins);
    }

    Extent of(EntryKind kind) {
        return Objects.requireNonNull(extents.get(kind));
    }

    /** The first offset of a partition. */
    long begin(EntryKind kind, int partition) {
        return begins.getOrDefault(kind, Map.of()).getOrDefault(partition, 0L);
    }

    /** Offsets between a reader and the ends. */
    long behind(Places reader) {
        return extents.entrySet().stream()
                .mapToLong(topic -> topic.getValue().behind(partition -> reader.next(topic.getKey(), partition)))
                .sum();
    }

    /** All offsets that there are. */
    long end() {
        return extents.values().stream()
                .flatMap(extent -> extent.ends().values().stream())
                .mapToLong(Long::longValue)
                .sum();
    }

    /**
     * Why an index cannot be gone on with from where it is; null when it can.
     *
     * @param trusted how long an index may have been out of contact: what was erased since may not be told any more
     */
    @Nullable
    String misfit(IndexCheckpoint reached, Duration trusted, Instant now) {
        if (reached.topicIds().isEmpty()) {
            return null;
        }
        for (EntryKind kind : EntryKind.values()) {
            Extent extent = of(kind);
            if (!extent.id().toString().equals(reached.topicIds().get(kind))) {
                return kind.topic() + " was made anew";
            }
            Map<Integer, Long> offsets = reached.offsets().getOrDefault(kind, Map.of());
            if (!offsets.keySet().equals(extent.ends().keySet())) {
                return kind.topic() + " has " + extent.ends().size() + " partitions instead of " + offsets.size();
            }
            for (Map.Entry<Integer, Long> place : offsets.entrySet()) {
                if (place.getValue() > extent.ends().getOrDefault(place.getKey(), 0L)) {
                    return "it goes up to offset " + place.getValue() + " of "
                            + new TopicPartition(kind.topic(), place.getKey()) + ", which ends before";
                }
                if (place.getValue() < begin(kind, place.getKey())) {
                    return "it goes up to offset " + place.getValue() + " of "
                            + new TopicPartition(kind.topic(), place.getKey()) + ", which begins after";
                }
            }
        }
        if (Duration.between(reached.asOf(), now).compareTo(trusted) > 0) {
            return "it is as of " + reached.asOf() + " and may have missed what was erased since";
        }
        // Clocks may be apart, but not by much.
        return Duration.between(now, reached.asOf()).compareTo(trusted.dividedBy(6)) > 0
                ? "it is as of " + reached.asOf() + ", which is to come"
                : null;
    }
}
