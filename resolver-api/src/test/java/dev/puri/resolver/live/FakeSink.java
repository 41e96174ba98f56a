package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A sink that keeps its events. A test may stop reading it, so that bytes are pending. */
final class FakeSink implements Sink {
    /** An event as a client parses it. */
    record Event(
            @Nullable String id,
            String type,
            String data,
            @Nullable String retry) {
        static Event parse(ServerSentEvent sent) {
            String text = sent.toString();
            if (!text.endsWith("\n\n")) {
                throw new AssertionError("not a whole event: " + text);
            }
            String id = null;
            String type = "message";
            String data = "";
            String retry = null;
            for (String line : text.strip().split("\n", -1)) {
                String value = line.substring(line.indexOf(' ') + 1);
                switch (line.substring(0, line.indexOf(':'))) {
                    case "id" -> id = value;
                    case "event" -> type = value;
                    case "data" -> data = value;
                    case "retry" -> retry = value;
                    default -> throw new AssertionError(line);
                }
            }
            return new Event(id, type, data, retry);
        }
    }

    private final List<Event> events = new CopyOnWriteArrayList<>();
    private volatile boolean isRead = true;
    private volatile int pending;
    private volatile @Nullable String lastId;
    private boolean isClosed;

    @Override
    public synchronized boolean offer(ServerSentEvent sent) {
        if (isClosed) {
            return false;
        }
        Event event = Event.parse(sent);
        lastId = event.id() == null ? lastId : event.id();
        if (!event.data().isEmpty()) {
            events.add(event);
        }
        if (!isRead) {
            pending += sent.length();
        }
        return true;
    }

    @Override
    public int pendingBytes() {
        return pending;
    }

    @Override
    public synchronized void end(ServerSentEvent sent) {
        events.add(Event.parse(sent));
    }

    /** The client disconnects; it does not receive later events. */
    synchronized void close() {
        isClosed = true;
    }

    /** From now on accepted bytes stay pending. */
    void stopReading() {
        isRead = false;
    }

    synchronized void readOn() {
        isRead = true;
        pending = 0;
    }

    /** The id that the client sends when it reconnects; null before it received one. */
    @Nullable
    ChangeId lastId() {
        String id = lastId;
        return id == null ? null : ChangeId.parse(id);
    }

    List<Event> events() {
        return events;
    }

    /** The events, as type and data. */
    List<String> texts() {
        return events.stream().map(event -> event.type() + " " + event.data()).toList();
    }

    List<String> types() {
        return events.stream().map(Event::type).toList();
    }
}
