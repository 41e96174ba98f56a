package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.TopicMismatch.OffsetOutOfRange;
import dev.puri.projection.TopicMismatch.OtherPartitions;
import dev.puri.projection.TopicMismatch.OtherTopic;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

final class TopicMismatchTest {
    private static final Uuid ID = new Uuid(1, 2);
    private static final Map<Integer, Long> NEXT = Map.of(0, 5L, 1, 0L);

    @Test
    void aReaderContinuesWithinTheOffsetsOfTheTopic() {
        assertThat(TopicMismatch.find(ID, NEXT, ID, Map.of(0, 5L), Map.of(0, 5L, 1, 0L)))
                .isNull();
        assertThat(TopicMismatch.find(ID, NEXT, ID, Map.of(), Map.of(0, 99L, 1, 99L)))
                .isNull();
    }

    @Test
    void aTopicThatWasCreatedAgainIsAnotherOne() {
        Uuid otherId = new Uuid(1, 3);

        assertThat(TopicMismatch.find(ID, NEXT, otherId, Map.of(), Map.of(0, 9L, 1, 9L)))
                .isEqualTo(new OtherTopic(ID, otherId));
    }

    @Test
    void partitionsThatWereAddedAreAMismatch() {
        assertThat(TopicMismatch.find(NEXT, Map.of(), Map.of(0, 9L, 1, 9L, 2, 0L)))
                .isEqualTo(new OtherPartitions(2, 3));
    }

    @Test
    void anEndBeforeTheNextOffsetIsAMismatch() {
        OffsetOutOfRange mismatch = new OffsetOutOfRange(0, 5, 1, 4);

        assertThat(TopicMismatch.find(NEXT, Map.of(0, 1L), Map.of(0, 4L, 1, 9L)))
                .isEqualTo(mismatch);
        assertThat(mismatch.isAfterEnd()).isTrue();
    }

    @Test
    void aRecordThatWasDeletedBeforeItWasReadIsAMismatch() {
        OffsetOutOfRange mismatch = new OffsetOutOfRange(1, 0, 1, 9);

        assertThat(TopicMismatch.find(NEXT, Map.of(1, 1L), Map.of(0, 9L, 1, 9L)))
                .isEqualTo(mismatch);
        assertThat(mismatch.isAfterEnd()).isFalse();
    }

    @Test
    void aReaderThatHasNoOffsetsYetCannotContinue() {
        assertThat(TopicMismatch.find(Map.of(), Map.of(), Map.of(0, 0L))).isEqualTo(new OtherPartitions(0, 1));
    }
}
