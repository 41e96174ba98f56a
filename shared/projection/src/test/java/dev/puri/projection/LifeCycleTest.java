package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LifeCycleTest {
    private final LifeCycle<String, Integer> life = new LifeCycle<>("a test's");

    @Test
    void servesNothingBeforeAProjectionIsComplete() {
        assertThat(life.serving()).isNull();
        life.fill(1);
        assertThat(life.serving()).isNull();
        assertThat(life.feeder()).isEqualTo(1);

        assertThat(life.complete("first")).isNull();

        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("first", 1));
    }

    @Test
    void servesThePreviousProjectionWhileAnotherIsFilled() {
        life.fill(1);
        life.complete("first");
        life.detach();
        assertThat(life.state()).isEqualTo(new LifeCycle.Detached<>("first"));

        life.fill(2);

        assertThat(life.state()).isEqualTo(new LifeCycle.Filling<>("first", 2));
        assertThat(life.complete("second")).isEqualTo("first");
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("second", 2));
    }

    @Test
    void servesAStoredProjectionBeforeItsFeederIsAttached() {
        life.open("stored");
        assertThat(life.state()).isEqualTo(new LifeCycle.Detached<>("stored"));

        life.attach(1);

        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("stored", 1));
    }

    @Test
    void replacesTheServingProjectionInAnyState() {
        assertThat(life.replace("first", 1)).isNull();
        assertThat(life.replace("second", 2)).isEqualTo("first");
        life.detach();
        assertThat(life.replace("third", 3)).isEqualTo("second");
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("third", 3));
    }

    @Test
    void servesNothingAfterAWithdrawal() {
        life.open("stored");
        life.attach(1);

        assertThat(life.withdraw()).isEqualTo("stored");

        assertThat(life.state()).isEqualTo(new LifeCycle.Detached<>(null));
        assertThat(life.withdraw()).isNull();
    }

    @Test
    void refusesTransitionsThatTheStateDoesNotAllow() {
        assertRefused("attach", () -> life.attach(1), "Detached without a serving one");
        assertRefused("complete", () -> life.complete("x"), "Detached without a serving one");
        life.open("stored");
        assertRefused("open", () -> life.open("other"), "Detached");
        life.attach(1);
        assertRefused("fill", () -> life.fill(2), "Current");
        assertRefused("attach", () -> life.attach(2), "Current");
        assertRefused("open", () -> life.open("other"), "Current");
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("stored", 1));
    }

    private static void assertRefused(String transition, Runnable call, String state) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a test's: " + transition + " is not allowed in the state " + state);
    }
}
