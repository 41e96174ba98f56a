package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

final class BackoffTest {
    private static final Duration FIRST = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofMillis(500);

    /** Near the overflow, which {@link System#nanoTime} may reach at any time. */
    private long nanos = Long.MAX_VALUE - 1;

    private final Backoff backoff = new Backoff(new RetryPolicy(FIRST, LONGEST), () -> nanos);

    @Test
    void delaysDoubleUpToTheLongest() {
        assertThat(backoff.takeDelay()).isEqualTo(FIRST);
        assertThat(backoff.takeDelay()).isEqualTo(Duration.ofMillis(400));
        assertThat(backoff.takeDelay()).isEqualTo(LONGEST);
        assertThat(backoff.takeDelay()).isEqualTo(LONGEST);
    }

    @Test
    void aFixedPolicyHasOneDelay() {
        Backoff fixed = new Backoff(RetryPolicy.fixed(FIRST), () -> nanos);

        assertThat(fixed.takeDelay()).isEqualTo(FIRST);
        assertThat(fixed.takeDelay()).isEqualTo(FIRST);
    }

    @Test
    void startsWithTheFirstDelayAfterASuccess() {
        backoff.delay();
        backoff.delay();

        backoff.reset();

        assertThat(backoff.takeDelay()).isEqualTo(FIRST);
    }

    @Test
    void theFirstAttemptIsDueAtOnceAndLaterOnesAfterTheirDelay() {
        assertThat(backoff.isDue()).isTrue();
        assertThat(backoff.untilDue()).isZero();

        backoff.delay();

        assertThat(backoff.isDue()).isFalse();
        assertThat(backoff.untilDue()).isEqualTo(FIRST);
        pass(FIRST.minusNanos(1));
        assertThat(backoff.isDue()).isFalse();
        pass(Duration.ofNanos(1));
        assertThat(backoff.isDue()).isTrue();
        assertThat(backoff.untilDue()).isZero();
    }

    @Test
    void aBriefDelayDoesNotChangeTheNextDelay() {
        backoff.delay();

        backoff.delayBriefly();

        assertThat(backoff.untilDue()).isEqualTo(FIRST);
        assertThat(backoff.takeDelay()).isEqualTo(Duration.ofMillis(400));
    }

    @Test
    void startsWithTheFirstDelayAfterALongAttempt() {
        backoff.delay();
        backoff.begin();
        pass(LONGEST);
        assertThat(backoff.takeDelay()).isEqualTo(Duration.ofMillis(400));

        backoff.begin();
        pass(LONGEST.plusNanos(1));

        assertThat(backoff.takeDelay()).isEqualTo(FIRST);
    }

    @Test
    void doesNotCountTimeBetweenAttempts() {
        backoff.begin();
        backoff.delay();
        pass(LONGEST.multipliedBy(2));

        assertThat(backoff.takeDelay()).isEqualTo(Duration.ofMillis(400));
    }

    @Test
    void refusesInvalidDelays() {
        assertThatThrownBy(() -> new RetryPolicy(Duration.ZERO, LONGEST))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT0S");
        assertThatThrownBy(() -> new RetryPolicy(LONGEST, FIRST))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT0.5S");
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }
}
