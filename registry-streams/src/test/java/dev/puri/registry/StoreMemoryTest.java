package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class StoreMemoryTest {
    @ParameterizedTest
    @CsvSource({"16, 1", "63, 1", "64, 2", "256, 8", "1000, 16", "4096, 64", "16384, 64"})
    void aShardOfTheCacheHasAtLeast32MebibytesIfThereAreSeveral(long mebibytes, int shards) {
        assertThat(1 << StoreMemory.shardBits(mebibytes << 20)).isEqualTo(shards);
    }
}
