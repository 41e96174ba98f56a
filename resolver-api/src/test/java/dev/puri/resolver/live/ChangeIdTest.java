package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ChangeIdTest {
    @Test
    void parseReadsToString() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            long[] next = new long[1 + random.nextInt(20)];
            for (int p = 0; p < next.length; p++) {
                next[p] = random.nextLong() >>> (1 + random.nextInt(63));
            }
            long seconds = random.nextInt(Integer.MAX_VALUE);
            ChangeId id = ChangeId.of(random.nextInt(), seconds, next);
            ChangeId read = ChangeId.parse(id.toString());
            assertThat(read).as("seed %d", seed).isEqualTo(id);
            assertThat(read.topicHash()).isEqualTo(id.topicHash());
            assertThat(read.seconds()).isEqualTo(seconds);
            assertThat(read.nextOffsets()).as("seed %d", seed).containsExactly(next);
        }
    }

    @Test
    void isTheSameOnEveryInstance() {
        Uuid topic = Uuid.fromString("4Vw7xkQnTtyR9cYb0Z2gSA");
        assertThat(ChangeId.of(ChangeId.topicHash(topic), 1_767_225_600, new long[] {0, 1042, 300_000}))
                .hasToString("5RMTSYDy1soGAJII4KcS");
    }

    @Test
    void fitsIntoAHeaderLine() {
        long[] next = new long[1_000];
        Arrays.fill(next, 1L << 40);
        String id = ChangeId.of(1, 1L << 34, next).toString();
        assertThat(id).hasSizeLessThan(ChangeId.MAX_LENGTH).matches("[A-Za-z0-9_-]+");
        assertThat(ChangeId.parse(id).nextOffsets()).hasSize(1_000);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "AAAA",
                "AAAAAA",
                "not an id",
                "5RMTSYDy1soGAJII4KcS=",
                // A varint that does not end, one that is longer than it need be, one of ten bytes.
                "5RMTSYDy1soGAJII4Kc",
                "5RMTSYDy1soGgAA",
                "AAAAAICAgICAgICAgAE",
                "5RMTS+Dy1soGAJII4KcS"
            })
    void refusesTextsThatNoServerIssued(String text) {
        assertThatThrownBy(() -> ChangeId.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aLongTextIsRefusedAndNotRepeated() {
        assertThatThrownBy(() -> ChangeId.parse("A".repeat(10_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("10000")
                .message()
                .hasSizeLessThan(200);
    }
}
