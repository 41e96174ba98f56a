package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class TimeShareTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final TimeShare share = new TimeShare(10, Duration.ofNanos(300), nanos::get);

    private void spend(long time) {
        share.spend(() -> nanos.addAndGet(time));
    }

    @Test
    void aLongRunDelaysTheNextOne() {
        assertThat(share.hasCredit()).isTrue();
        spend(1_300);
        nanos.addAndGet(8_700);
        assertThat(share.hasCredit())
                .as("10,000 ns earn what 1,300 ns have taken, less the 300 ns at first")
                .isFalse();
        nanos.addAndGet(10);
        assertThat(share.hasCredit()).isTrue();
    }

    @Test
    void shortRunsMayFollowOneAnotherWhileThereIsCredit() {
        for (int i = 0; i < 3; i++) {
            assertThat(share.hasCredit()).isTrue();
            spend(100);
        }
        assertThat(share.hasCredit()).as("the runs earn a tenth of their time").isTrue();
        spend(100);
        assertThat(share.hasCredit()).isFalse();
    }

    @Test
    void creditHasAMaximum() {
        nanos.addAndGet(1_000_000);
        assertThat(share.hasCredit()).isTrue();
        spend(350);
        assertThat(share.hasCredit()).isFalse();
    }

    @Test
    void aFailedRunIsPaidToo() {
        assertThatThrownBy(() -> share.spend(() -> {
                    nanos.addAndGet(400);
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThat(share.hasCredit()).isFalse();
    }
}
