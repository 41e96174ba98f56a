package dev.puri.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class ProcessIdentityTest {
    private static final Instant STARTED = Instant.parse("2026-02-03T04:05:06.780Z");
    private static final ProcessIdentity CHILD = new ProcessIdentity(4711, STARTED);

    @Test
    void isTheSameProcessAfterTheClockWasSet() {
        assertThat(new ProcessIdentity(4711, STARTED.plusMillis(10)).isSameAs(CHILD))
                .isTrue();
        assertThat(new ProcessIdentity(4711, STARTED.minusSeconds(3)).isSameAs(CHILD))
                .isTrue();
    }

    @Test
    void aReusedPidIsAnotherProcess() {
        assertThat(new ProcessIdentity(4711, STARTED.plusSeconds(60)).isSameAs(CHILD))
                .isFalse();
        assertThat(new ProcessIdentity(4711, null).isSameAs(CHILD)).isFalse();
        assertThat(new ProcessIdentity(4712, STARTED).isSameAs(CHILD)).isFalse();
    }

    @Test
    void parsesItsOwnText() {
        ProcessIdentity unknownStart = new ProcessIdentity(7, null);
        assertThat(ProcessIdentity.parse(CHILD.toString())).contains(CHILD);
        assertThat(ProcessIdentity.parse(unknownStart + "\n")).contains(unknownStart);
        assertThat(ProcessIdentity.of(ProcessHandle.current()).isSameAs(ProcessIdentity.of(ProcessHandle.current())))
                .isTrue();
    }

    @Test
    void anIncompleteTextIsEmpty() {
        assertThat(ProcessIdentity.parse("")).isEmpty();
        assertThat(ProcessIdentity.parse("4711 2026-02")).isEmpty();
        assertThat(ProcessIdentity.parse("registry")).isEmpty();
    }
}
