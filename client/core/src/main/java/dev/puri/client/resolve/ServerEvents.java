package dev.puri.client.resolve;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Parses a stream of server-sent events (HTML Living Standard, 9.2.6), which arrives in buffers of any size. Unlike a
 * browser, this parser also emits an event that has an id but no data, because the id says up to which position a
 * resolver has reported changes.
 */
final class ServerEvents {
    /** The maximum size of an event. An event with a change has less than a tenth of this size. */
    static final int MAX_EVENT_BYTES = 64 << 10;

    private static final String BYTE_ORDER_MARK = "\ufeff";

    private final Consumer<Event> onEvent;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    private final StringBuilder data = new StringBuilder();
    private boolean hasData;
    private boolean isFirstLine = true;
    private boolean isAfterCarriageReturn;
    private int eventByteCount;
    private String type = "";
    private @Nullable String id;
    private @Nullable Duration retry;

    /**
     * @param id the event's own id; null if it has none
     * @param type value of the field {@code event}; empty if there is none
     * @param data empty if the event has no data
     */
    record Event(@Nullable String id, String type, String data) {}

    ServerEvents(Consumer<Event> onEvent) {
        this.onEvent = onEvent;
    }

    /** The reconnection time that the server requested; null if it requested none. */
    @Nullable
    Duration retry() {
        return retry;
    }

    /**
     * Parses the next bytes of the stream, and emits each event that ends in these bytes.
     *
     * @throws IllegalArgumentException if an event has more than {@value #MAX_EVENT_BYTES} bytes
     */
    void parse(ByteBuffer bytes) {
        while (bytes.hasRemaining()) {
            byte b = bytes.get();
            boolean isLineFeedOfCrLf = isAfterCarriageReturn && b == '\n';
            isAfterCarriageReturn = b == '\r';
            if (isLineFeedOfCrLf) {
                continue;
            }
            if (b == '\r' || b == '\n') {
                endLine();
            } else {
                if (++eventByteCount > MAX_EVENT_BYTES) {
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
        storeField(field, value.startsWith(" ") ? value.substring(1) : value);
    }

    /** Stores the value of a field. Ignores unknown fields, and comments, which are lines with an empty field name. */
    private void storeField(String field, String value) {
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
        boolean isEmitted = hasData || id != null;
        id = null;
        type = "";
        data.setLength(0);
        hasData = false;
        eventByteCount = 0;
        if (isEmitted) {
            onEvent.accept(event);
        }
    }
}
