package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class FailureStateTest {
    @Test
    void reportsARepeatedReasonOnce() {
        FailureState failure = new FailureState();
        assertThat(failure.reason()).isNull();

        assertThat(failure.changeTo("no broker answers")).isTrue();
        assertThat(failure.changeTo("no broker answers")).isFalse();
        assertThat(failure.reason()).isEqualTo("no broker answers");

        assertThat(failure.changeTo("the topic is missing")).isTrue();
        assertThat(failure.changeTo("no broker answers")).isTrue();
    }

    @Test
    void reportsTheSameReasonAgainAfterASuccess() {
        FailureState failure = new FailureState();
        failure.changeTo("no broker answers");

        failure.clear();

        assertThat(failure.reason()).isNull();
        assertThat(failure.changeTo("no broker answers")).isTrue();
    }

    @Test
    void hasAReasonBeforeTheFirstAttempt() {
        FailureState failure = new FailureState("not begun");
        assertThat(failure.reason()).isEqualTo("not begun");
        assertThat(failure.changeTo("not begun")).isFalse();
    }
}
