package dev.puri.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Formats the times in responses: RFC 3339 in UTC, always with milliseconds. */
public final class Timestamp {
    private static final DateTimeFormatter MILLIS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private Timestamp() {}

    /** Formats a time, truncated to milliseconds. */
    public static String text(Instant time) {
        return MILLIS.format(time);
    }
}
