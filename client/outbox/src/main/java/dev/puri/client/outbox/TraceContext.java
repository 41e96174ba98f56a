package dev.puri.client.outbox;

import org.jspecify.annotations.Nullable;

/**
 * The trace context of an event: values of the headers of W3C Trace Context. The record of the event in Kafka gets the
 * headers {@code traceparent} and {@code tracestate}.
 *
 * @param traceparent such as {@code 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
 * @param tracestate null if there is none
 */
public record TraceContext(String traceparent, @Nullable String tracestate) {
    private static final int TRACEPARENT_LENGTH = 55;
    private static final int MAX_TRACESTATE_LENGTH = 512;

    /**
     * Returns the value of {@code traceparent}, or null if it is not valid in version 00, because an invalid value must
     * not fail the transaction.
     */
    @Nullable
    String validTraceparent() {
        return traceparent.length() == TRACEPARENT_LENGTH && isPrintable(traceparent) ? traceparent : null;
    }

    /**
     * Returns the value of {@code tracestate}, or null if it is longer than the standard requires to propagate or
     * {@code traceparent} is not valid.
     */
    @Nullable
    String validTracestate() {
        return validTraceparent() != null
                        && tracestate != null
                        && tracestate.length() <= MAX_TRACESTATE_LENGTH
                        && isPrintable(tracestate)
                ? tracestate
                : null;
    }

    private static boolean isPrintable(String text) {
        return text.chars().allMatch(c -> c >= ' ' && c <= '~');
    }
}
