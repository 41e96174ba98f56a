package dev.puri.client.outbox;

import org.jspecify.annotations.Nullable;

/**
 * The trace context of an event (W3C Trace Context). The event's Kafka record gets the values as the headers {@code
 * traceparent} and {@code tracestate}.
 *
 * @param traceparent such as {@code 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
 * @param tracestate null if there is none
 */
public record TraceContext(String traceparent, @Nullable String tracestate) {
    private static final int TRACEPARENT_LENGTH = 55;
    private static final int MAX_TRACESTATE_LENGTH = 512;

    /**
     * Returns the value of {@code traceparent} if it fits its column, otherwise null. A malformed value must not fail
     * the transaction. Values of version 00 have 55 characters; other values are dropped.
     */
    @Nullable
    String storableTraceparent() {
        return traceparent.length() == TRACEPARENT_LENGTH && isPrintable(traceparent) ? traceparent : null;
    }

    /**
     * Returns the value of {@code tracestate} if it fits its column, otherwise null. Also returns null if {@link
     * #storableTraceparent} does. The standard requires systems to propagate at least 512 characters.
     */
    @Nullable
    String storableTracestate() {
        return storableTraceparent() != null
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
