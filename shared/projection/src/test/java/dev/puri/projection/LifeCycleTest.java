package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LifeCycleTest {
    private final LifeCycle<String, Integer> life = new LifeCycle<>("a test's");

    @Test
    void servesNothingBeforeAProjectionIsComplete() {
        assertThat(life.state()).isEqualTo(new LifeCycle.Empty<>());
        life.fill(1);
        assertThat(life.serving()).isNull();
        assertThat(life.feeder()).isEqualTo(1);
        assertThat(life.state()).isEqualTo(new LifeCycle.CatchingUp<>(1));

        life.complete("first");

        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("first", 1));
    }

    @Test
    void servesThePreviousProjectionWhileAnotherIsFilled() {
        life.fill(1);
        life.complete("first");
        life.detach();
        assertThat(life.state()).isEqualTo(new LifeCycle.Stale<>("first"));

        life.rebuild(2);

        assertThat(life.serving()).isEqualTo("first");
        assertThat(life.feeder()).isNull();
        assertThat(life.state().rebuildFeeder()).isEqualTo(2);
        assertThat(life.swap("second")).isEqualTo("first");
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("second", 2));
    }

    @Test
    void servesAStoredProjectionBeforeItsFeederIsAttached() {
        life.open("stored");
        assertThat(life.state()).isEqualTo(new LifeCycle.Stale<>("stored"));

        life.attach(1);

        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("stored", 1));
    }

    @Test
    void replacesTheServingProjectionInAnyState() {
        life.rebuild(1);
        assertThat(life.swap("first")).isNull();
        life.rebuild(2);
        assertThat(life.swap("second")).isEqualTo("first");
        life.detach();
        life.rebuild(3);
        assertThat(life.swap("third")).isEqualTo("second");
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("third", 3));
    }

    @Test
    void theServingProjectionIsUpdatedWhileAnotherIsRebuilt() {
        life.open("stored");
        life.rebuild(2);

        life.attach(1);

        assertThat(life.state()).isEqualTo(new LifeCycle.Rebuilding<>(new LifeCycle.Current<>("stored", 1), 2));
        assertThat(life.feeder()).isEqualTo(1);
        life.detach();
        assertThat(life.state()).isEqualTo(new LifeCycle.Rebuilding<>(new LifeCycle.Stale<>("stored"), 2));
        assertThat(life.withdraw()).isEqualTo("stored");
        assertThat(life.state()).isEqualTo(new LifeCycle.Rebuilding<>(new LifeCycle.Empty<>(), 2));
    }

    @Test
    void theFirstFillMayCompleteDuringARebuild() {
        life.fill(1);
        life.rebuild(2);

        life.complete("first");

        assertThat(life.swap("second")).isEqualTo("first");
    }

    @Test
    void aRebuildThatEndsLeavesTheServingProjectionAsItIs() {
        life.fill(1);
        life.complete("first");
        life.rebuild(2);

        life.endRebuild();

        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("first", 1));
        life.endRebuild();
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("first", 1));
    }

    @Test
    void aFirstFillThatEndsLeavesNothing() {
        life.fill(1);

        life.detach();

        assertThat(life.state()).isEqualTo(new LifeCycle.Empty<>());
    }

    @Test
    void servesNothingAfterAWithdrawal() {
        life.open("stored");
        life.attach(1);

        assertThat(life.withdraw()).isEqualTo("stored");

        assertThat(life.state()).isEqualTo(new LifeCycle.Empty<>());
        assertThat(life.withdraw()).isNull();
    }

    @Test
    void refusesTransitionsThatTheStateDoesNotAllow() {
        assertRefused("attach", () -> life.attach(1), "Empty");
        assertRefused("complete", () -> life.complete("x"), "Empty");
        assertRefused("swap", () -> life.swap("x"), "Empty");
        life.open("stored");
        assertRefused("open", () -> life.open("other"), "Stale");
        assertRefused("fill", () -> life.fill(1), "Stale");
        life.attach(1);
        assertRefused("fill", () -> life.fill(2), "Current");
        assertRefused("attach", () -> life.attach(2), "Current");
        assertRefused("open", () -> life.open("other"), "Current");
        assertThat(life.state()).isEqualTo(new LifeCycle.Current<>("stored", 1));
        life.rebuild(2);
        assertRefused("rebuild", () -> life.rebuild(3), "Rebuilding, primary Current");
        assertRefused("attach", () -> life.attach(3), "Rebuilding, primary Current");
    }

    private static void assertRefused(String transition, Runnable call, String state) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a test's: " + transition + " is not allowed in the state " + state);
    }
}
