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
     * @param id the client sends it as {@code Last-Event-ID} when it reconnects; null to keep the previous id
     * @param name the event type; null for {@code message}
     * @param data any text; line breaks are preserved
     * @throws IllegalArgumentException if id or name contains a line break or NUL
     */
    public static ServerSentEvent of(@Nullable String id, @Nullable String name, String data) {
        StringBuilder text = new StringBuilder(data.length() + 64);
        appendField(text, "id", id);
        appendField(text, "event", name);
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

    /** Returns a comment. Clients ignore it; it keeps idle connections open. */
    public static ServerSentEvent comment() {
        return encoded(":\n\n");
    }

    /** Returns this event with the delay after which clients reconnect. */
    public ServerSentEvent withRetry(Duration delay) {
        return encoded("retry: " + delay.toMillis() + "\n" + this);
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

    private static void appendField(StringBuilder text, String field, @Nullable String value) {
        if (value == null) {
            return;
        }
        if (value.indexOf('\n') >= 0 || value.indexOf('\r') >= 0 || value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the " + field + " of an event must not contain a line break or NUL");
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
