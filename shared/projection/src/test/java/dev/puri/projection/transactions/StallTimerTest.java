package dev.puri.projection.transactions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.transactions.StallTimer.ObservedOffsets;
import dev.puri.projection.transactions.StallTimer.Offsets;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

final class StallTimerTest {
    private static final TopicPartition ONE = new TopicPartition("a", 1);
    private static final TopicPartition TWO = new TopicPartition("a", 2);
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final StallTimer stalls = new StallTimer();

    @Test
    void aPartitionThatCanBeReadToItsEndIsNotStalled() {
        assertThat(observe(Map.of(ONE, new Offsets(7, 7)), 0)).isEmpty();
    }

    @Test
    void reportsForHowLongTheOffsetHasNotMoved() {
        observe(Map.of(ONE, new Offsets(7, 8)), 0);

        assertThat(observe(Map.of(ONE, new Offsets(7, 90)), 9 * SECOND))
                .containsExactly(new StalledPartition(ONE, new Offsets(7, 90), Duration.ofSeconds(9)));
    }

    @Test
    void restartsTheTimeWhenATransactionEnds() {
        observe(Map.of(ONE, new Offsets(7, 8)), 0);

        assertThat(observe(Map.of(ONE, new Offsets(9, 12)), 9 * SECOND))
                .containsExactly(new StalledPartition(ONE, new Offsets(9, 12), Duration.ZERO));
        assertThat(observe(Map.of(ONE, new Offsets(12, 12)), 10 * SECOND)).isEmpty();
    }

    @Test
    void measuresEachPartitionSeparately() {
        observe(Map.of(ONE, new Offsets(7, 8)), 0);

        assertThat(observe(Map.of(ONE, new Offsets(7, 8), TWO, new Offsets(0, 1)), 4 * SECOND))
                .containsExactlyInAnyOrder(
                        new StalledPartition(ONE, new Offsets(7, 8), Duration.ofSeconds(4)),
                        new StalledPartition(TWO, new Offsets(0, 1), Duration.ZERO));
    }

    @Test
    void forgetsAMissingPartition() {
        observe(Map.of(ONE, new Offsets(7, 8)), 0);
        observe(Map.of(), 4 * SECOND);

        assertThat(observe(Map.of(ONE, new Offsets(7, 8)), 8 * SECOND))
                .containsExactly(new StalledPartition(ONE, new Offsets(7, 8), Duration.ZERO));
    }

    @Test
    void countsStallTimeWhileOffsetsAreUnknown() {
        observe(Map.of(ONE, new Offsets(7, 8), TWO, new Offsets(3, 9)), 0);

        assertThat(stalls.observe(new ObservedOffsets(Map.of(TWO, new Offsets(9, 9)), Set.of(ONE)), 4 * SECOND))
                .isEmpty();

        assertThat(observe(Map.of(ONE, new Offsets(7, 8)), 8 * SECOND))
                .containsExactly(new StalledPartition(ONE, new Offsets(7, 8), Duration.ofSeconds(8)));
    }

    private List<StalledPartition> observe(Map<TopicPartition, Offsets> now, long nanos) {
        return stalls.observe(new ObservedOffsets(now, Set.of()), nanos);
    }
}
