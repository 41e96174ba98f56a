package dev.puri.client.resolve;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Parses a stream of server-sent events (HTML Living Standard, 9.2.6), which arrives in pieces of any size. Unlike a browser it passes
 * on events without data, because their ids say up to where a resolver has reported changes.
 */
final class ServerEvents {
    /** More than ten times the size of a change. */
    static final int MAX_EVENT_BYTES = 64 << 10;

    private static final String BYTE_ORDER_MARK = "\ufeff";

    private final Consumer<Event> onEvent;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    private final StringBuilder data = new StringBuilder();
    private boolean hasData;
    private boolean isFirstLine = true;
    private boolean lastWasReturn;
    private int eventBytes;
    private String type = "";
    private @Nullable String id;
    private @Nullable Duration retry;

    /**
     * @param id of this event; null when it has none
     * @param type empty when it has none
     * @param data empty when it has none
     */
    record Event(@Nullable String id, String type, String data) {}

    ServerEvents(Consumer<Event> onEvent) {
        this.onEvent = onEvent;
    }

    /** The reconnection time that the server asked for; null if it asked for none. */
    @Nullable
    Duration retry() {
        return retry;
    }

    /**
     * Takes the next bytes and passes on the events that end in them.
     *
     * @throws IllegalArgumentException when an event has more than {@value #MAX_EVENT_BYTES} bytes
     */
    void take(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            byte b = bytes.get();
            boolean isSecondOfPair = lastWasReturn && b == '\n';
            lastWasReturn = b == '\r';
            if (isSecondOfPair) {
                continue;
            }
            if (b == '\r' || b == '\n') {
                endLine();
            } else {
                if (++eventBytes > MAX_EVENT_BYTES) {
                    throw new IllegalArgumentException("an event has more than " + MAX_EVENT_BYTES + " bytes");
                }
                line.write(b);
            }
        }
    }

    private void endLine() {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (isFirstLine && text.startsWith(BYTE_ORDER_MARK)) {
            text = text.substring(1);
        }
        isFirstLine = false;
        if (text.isEmpty()) {
            endEvent();
            return;
        }
        int colon = text.indexOf(':');
        String field = colon < 0 ? text : text.substring(0, colon);
        String value = colon < 0 ? "" : text.substring(colon + 1);
        field(field, value.startsWith(" ") ? value.substring(1) : value);
    }

    /** A comment is a line whose field is empty. */
    private void field(String field, String value) {
        switch (field) {
            case "id" -> id = value.indexOf('\0') < 0 ? value : id;
            case "event" -> type = value;
            case "data" -> {
                data.append(hasData ? "\n" : "").append(value);
                hasData = true;
            }
            case "retry" -> {
                if (value.matches("[0-9]{1,9}")) {
                    retry = Duration.ofMillis(Long.parseLong(value));
                }
            }
            default -> {}
        }
    }

    private void endEvent() {
        Event event = new Event(id, type, data.toString());
        boolean isEvent = hasData || id != null;
        id = null;
        type = "";
        data.setLength(0);
        hasData = false;
        eventBytes = 0;
        if (isEvent) {
            onEvent.accept(event);
        }
    }
}
