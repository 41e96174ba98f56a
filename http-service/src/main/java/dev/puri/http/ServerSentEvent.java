package dev.puri.http;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An encoded event of an {@link EventStream} (HTML Living Standard, 9.2, server-sent events). It may be sent to any
 * number of streams.
 */
public final class ServerSentEvent {
    private final byte[] bytes;

    private ServerSentEvent(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Encodes an event.
     *
     * @param id sent by a reconnecting client as {@code Last-Event-ID}; null to keep the previous one
     * @param name the event's type; null for {@code message}
     * @param data any text; line breaks are preserved
     * @throws IllegalArgumentException if id or name contains a line break or NUL
     */
    public static ServerSentEvent of(@Nullable String id, @Nullable String name, String data) {
        StringBuilder text = new StringBuilder(data.length() + 64);
        field(text, "id", id);
        field(text, "event", name);
        text.append("data: ");
        for (int i = 0; i < data.length(); i++) {
            char c = data.charAt(i);
            if (c != '\r' && c != '\n') {
                text.append(c);
                continue;
            }
            if (c == '\r' && i + 1 < data.length() && data.charAt(i + 1) == '\n') {
                i++;
            }
            text.append("\ndata: ");
        }
        return encoded(text.append("\n\n"));
    }

    /** Returns a comment, which clients ignore; it keeps idle connections alive. */
    public static ServerSentEvent comment() {
        return encoded(":\n\n");
    }

    /** Returns this event with the time that clients wait before they reconnect. */
    public ServerSentEvent withRetry(Duration wait) {
        return encoded("retry: " + wait.toMillis() + "\n" + this);
    }

    /**
     * Wraps an encoded event.
     *
     * @param bytes the whole event with its final empty line; not copied
     */
    public static ServerSentEvent encoded(byte[] bytes) {
        return new ServerSentEvent(bytes);
    }

    private static ServerSentEvent encoded(CharSequence text) {
        return new ServerSentEvent(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private static void field(StringBuilder text, String field, @Nullable String value) {
        if (value == null) {
            return;
        }
        if (value.indexOf('\n') >= 0 || value.indexOf('\r') >= 0 || value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("no " + field + " of an event: line break or NUL in it");
        }
        text.append(field).append(": ").append(value).append('\n');
    }

    /** Returns the number of bytes. */
    public int length() {
        return bytes.length;
    }

    byte[] bytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
