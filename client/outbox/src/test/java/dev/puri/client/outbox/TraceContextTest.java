package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TraceContextTest {
    private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    @Test
    void keepsWhatTheStandardAllows() {
        TraceContext context = new TraceContext(PARENT, "a=1");
        assertThat(context.storedParent()).isEqualTo(PARENT);
        assertThat(context.storedState()).isEqualTo("a=1");
        assertThat(new TraceContext(PARENT, null).storedState()).isNull();
    }

    @Test
    void dropsWhatDoesNotFitInsteadOfFailingATransaction() {
        assertThat(new TraceContext(PARENT, "x".repeat(513)).storedState()).isNull();
        assertThat(new TraceContext(PARENT + "0", "a=1").storedParent()).isNull();
        assertThat(new TraceContext(PARENT + "0", "a=1").storedState()).isNull();
        assertThat(new TraceContext("ü".repeat(55), null).storedParent()).isNull();
    }
}
