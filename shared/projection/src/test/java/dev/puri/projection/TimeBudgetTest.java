package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class TimeBudgetTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final TimeBudget budget = new TimeBudget(10, Duration.ofNanos(300), nanos::get);

    private void spend(long time) {
        nanos.addAndGet(time);
        budget.spend(time);
    }

    @Test
    void aLongRunDelaysTheNextOne() {
        assertThat(budget.hasCredit()).isTrue();
        spend(1_300);
        nanos.addAndGet(8_700);
        assertThat(budget.hasCredit())
                .as("10,000 ns earn what 1,300 ns have taken, less the 300 ns at first")
                .isFalse();
        nanos.addAndGet(10);
        assertThat(budget.hasCredit()).isTrue();
    }

    @Test
    void shortRunsMayFollowOneAnotherWhileThereIsCredit() {
        for (int i = 0; i < 3; i++) {
            assertThat(budget.hasCredit()).isTrue();
            spend(100);
        }
        assertThat(budget.hasCredit()).as("the runs earn a tenth of their time").isTrue();
        spend(100);
        assertThat(budget.hasCredit()).isFalse();
    }

    @Test
    void creditHasAMaximum() {
        nanos.addAndGet(1_000_000);
        assertThat(budget.hasCredit()).isTrue();
        spend(350);
        assertThat(budget.hasCredit()).isFalse();
    }

    @Test
    void afterTheTimeUntilFullTheCreditHasItsMaximum() {
        budget.spend(310);
        assertThat(budget.hasCredit()).isFalse();
        assertThat(budget.timeUntilFull()).isEqualTo(Duration.ofNanos(3_100));

        nanos.addAndGet(3_100);
        assertThat(budget.hasCredit()).isTrue();
        assertThat(budget.timeUntilFull()).isZero();
    }

    @Test
    void operationsTakeTheTimeOfTheirRate() {
        Stop stop = new Stop();
        stop.request();
        TimeBudget rate = new TimeBudget(1, Duration.ofNanos(300), nanos::get);

        rate.spend(2, 10_000_000, stop);
        assertThat(rate.hasCredit()).as("two operations take 200 ns").isTrue();

        rate.spend(1, 10_000_000, stop);
        assertThat(rate.hasCredit()).isFalse();
    }

    @Test
    void operationsWithoutCreditWait() {
        long startedAtNanos = System.nanoTime();
        TimeBudget rate = new TimeBudget(1, Duration.ofMillis(1), System::nanoTime);

        rate.spend(20, 1_000, new Stop());

        assertThat(Duration.ofNanos(System.nanoTime() - startedAtNanos)).isGreaterThanOrEqualTo(Duration.ofMillis(19));
    }
}
