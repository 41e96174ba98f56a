package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

final class TruncationTest {
    @Test
    void aTopicThatBeginsAtZeroIsComplete() {
        assertThat(Truncation.reason("topic", Map.of(0, 0L, 1, 0L))).isNull();
        assertThat(Truncation.deletedRecords("topic", Map.of(0, 0L, 1, 0L))).isNull();
    }

    @Test
    void aLaterLogStartNamesThePartition() {
        assertThat(Truncation.reason("topic", Map.of(0, 0L, 1, 120L, 2, 7L)))
                .startsWith("records of partition 1 of topic before offset 120 were deleted");
    }
}
