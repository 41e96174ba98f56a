package dev.puri.http;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One event of an {@link EventStream}, encoded (HTML Living Standard, 9.2, server-sent events). Made
 * once, it may be sent to any number of streams.
 */
public final class ServerSentEvent {
    private final byte[] bytes;

    private ServerSentEvent(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * @param id what a client that connects anew sends as {@code Last-Event-ID}; null leaves the one before
     * @param name the event's type; null for {@code message}
     * @param data any text; its lines arrive as lines
     * @throws IllegalArgumentException when id or name holds a line break or NUL, which would end it early
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

    /** A line that clients skip; it keeps connections alive that would otherwise look idle. */
    public static ServerSentEvent comment() {
        return encoded(":\n\n");
    }

    /** The same event, telling clients too how long to wait before they connect anew. */
    public ServerSentEvent withRetry(Duration wait) {
        return encoded("retry: " + wait.toMillis() + "\n" + this);
    }

    /**
     * @param bytes a whole event, its empty line included; taken, not copied
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

    /** How many bytes it has. */
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
