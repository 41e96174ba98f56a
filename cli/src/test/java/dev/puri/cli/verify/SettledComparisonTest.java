package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SettledComparisonTest {
    @Test
    void aLargerHeapHasLargerBatches() {
        assertThat(SettledComparison.batchSize(64L << 20)).isEqualTo(20_000);
        assertThat(SettledComparison.batchSize(4L << 30)).isEqualTo(131_072);
        assertThat(SettledComparison.batchSize(1L << 40)).isEqualTo(1_000_000);
    }
}
