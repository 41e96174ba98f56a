package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TraceContextTest {
    private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    @Test
    void keepsValuesThatTheStandardAllows() {
        TraceContext context = new TraceContext(PARENT, "a=1");
        assertThat(context.storableTraceparent()).isEqualTo(PARENT);
        assertThat(context.storableTracestate()).isEqualTo("a=1");
        assertThat(new TraceContext(PARENT, null).storableTracestate()).isNull();
    }

    @Test
    void dropsOversizedValuesInsteadOfFailingATransaction() {
        assertThat(new TraceContext(PARENT, "x".repeat(513)).storableTracestate())
                .isNull();
        assertThat(new TraceContext(PARENT + "0", "a=1").storableTraceparent()).isNull();
        assertThat(new TraceContext(PARENT + "0", "a=1").storableTracestate()).isNull();
        assertThat(new TraceContext("ü".repeat(55), null).storableTraceparent()).isNull();
    }
}
