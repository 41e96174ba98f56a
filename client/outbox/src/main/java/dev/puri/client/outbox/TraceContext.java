package dev.puri.client.outbox;

import org.jspecify.annotations.Nullable;

/**
 * The trace of an event as the values of W3C Trace Context's headers. They become the headers {@code traceparent} and {@code tracestate} of
 * the event's record.
 *
 * @param traceparent such as {@code 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
 * @param tracestate null when there is none
 */
public record TraceContext(String traceparent, @Nullable String tracestate) {
    private static final int TRACEPARENT_LENGTH = 55;
    private static final int MAX_TRACESTATE_LENGTH = 512;

    /** The header's value, or null if it has not the form of version 00: a trace must not make a transaction fail. */
    @Nullable
    String storedParent() {
        return traceparent.length() == TRACEPARENT_LENGTH && isPrintable(traceparent) ? traceparent : null;
    }

    /** The header's value, or null if it is longer than the standard requires to propagate, or the parent is missing. */
    @Nullable
    String storedState() {
        return storedParent() != null
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
