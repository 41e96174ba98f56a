package dev.puri.http;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** A moment as answers write it: RFC 3339 in UTC with three digits of a second, also when they are zeros. */
public final class Timestamp {
    private static final DateTimeFormatter MILLIS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    private Timestamp() {}

    /** What is below a millisecond is cut off. */
    public static String text(Instant moment) {
        return MILLIS.format(moment);
    }
}
