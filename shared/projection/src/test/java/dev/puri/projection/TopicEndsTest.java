package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

final class TopicEndsTest {
    private static final ObservationTime AT = new ObservationTime(0, Instant.parse("2026-11-20T10:00:00Z"));

    private final Uuid id = Uuid.randomUuid();
    private final TopicEnds ends = ends(id, Map.of(0, 10L, 1, 11L, 2, 4L));

    @Test
    void lagIsTheSumOverThePartitions() {
        Map<Integer, Long> next = Map.of(0, 7L, 1, 12L);

        assertThat(ends.lag(partition -> next.getOrDefault(partition, 0L))).isEqualTo(3 + 0 + 4);
        assertThat(ends.ends().total()).isEqualTo(25);
    }

    @Test
    void theEndsAreReachedOnceEveryPartitionIsAtItsEnd() {
        assertThat(ends.ends().isReachedBy(partition -> partition == 2 ? 3 : 11))
                .isFalse();
        assertThat(ends.ends().isReachedBy(partition -> 11)).isTrue();
    }

    @Test
    void aTopicWithAnotherIdOrOtherPartitionsIsADifferentTopic() {
        TopicEnds one = ends(id, Map.of(0, 10L));

        assertThat(one.isOfTheSameTopic(ends(id, Map.of(0, 99L)))).isTrue();
        assertThat(one.isOfTheSameTopic(ends(id, Map.of(0, 10L, 1, 0L)))).isFalse();
        assertThat(one.isOfTheSameTopic(ends(Uuid.randomUuid(), Map.of(0, 10L))))
                .isFalse();
    }

    private static TopicEnds ends(Uuid topicId, Map<Integer, Long> byPartition) {
        return new TopicEnds(topicId, new EndOffsets(byPartition, AT));
    }
}
