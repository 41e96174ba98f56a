package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class LagMarkTest {
    @Test
    void onlyWhatIsNoticeableIsTold() {
        assertThat(LagMark.text(Duration.ofMillis(42_999))).isEqualTo("42");
        assertThat(LagMark.text(Duration.ofMillis(4_999))).isNull();
        assertThat(LagMark.text(null)).isNull();
    }
}
