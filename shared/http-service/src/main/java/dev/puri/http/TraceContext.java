package dev.puri.http;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    /**
     * Version, trace id, parent id and flags. Zero ids and version ff are invalid. Later versions may append fields.
     */
    private static final Pattern TRACEPARENT = Pattern.compile(
            "((?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?", Pattern.DOTALL);

    /** Parses the header; returns null if it is absent or malformed. */
    static @Nullable TraceContext parse(@Nullable String header) {
        if (header == null || header.length() > 2 * LENGTH) {
            return null;
        }
        Matcher matcher = TRACEPARENT.matcher(header);
        if (!matcher.matches() || matcher.group(3) != null && header.startsWith("00")) {
            return null;
        }
        return new TraceContext(matcher.group(1), matcher.group(2));
    }
}
