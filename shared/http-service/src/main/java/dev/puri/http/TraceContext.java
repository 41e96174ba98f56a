package dev.puri.http;

import org.jspecify.annotations.Nullable;

/**
 * The trace context of a request (W3C Trace Context, 3.2).
 *
 * @param traceparent the client's header, without the fields that versions after 00 append
 * @param traceId 32 hexadecimal digits
 */
record TraceContext(String traceparent, String traceId) {
    /** The key of the trace id in log lines. */
    static final String LOG_KEY = "traceId";

    private static final int LENGTH = 55;

    /** Parses the header; returns null if it is absent or malformed. */
    static @Nullable TraceContext parse(@Nullable String header) {
        if (header == null || header.length() < LENGTH || header.length() > 2 * LENGTH) {
            return null;
        }
        boolean isWellFormed = isHex(header, 0, 2)
                && header.charAt(2) == '-'
                && isHex(header, 3, 35)
                && header.charAt(35) == '-'
                && isHex(header, 36, 52)
                && header.charAt(52) == '-'
                && isHex(header, 53, 55);
        if (!isWellFormed || header.startsWith("ff") || isZero(header, 3, 35) || isZero(header, 36, 52)) {
            return null;
        }
        // Later versions may have more fields, which are removed.
        boolean hasMoreFields = header.length() > LENGTH;
        if (hasMoreFields && (header.startsWith("00") || header.charAt(LENGTH) != '-')) {
            return null;
        }
        return new TraceContext(header.substring(0, LENGTH), header.substring(3, 35));
    }

    private static boolean isHex(String text, int from, int to) {
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
                return false;
            }
        }
        return true;
    }

    private static boolean isZero(String text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (text.charAt(i) != '0') {
                return false;
            }
        }
        return true;
    }
}
