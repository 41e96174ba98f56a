package dev.puri.resolver.live;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A stream that keeps what it is told, and may be stopped from being read. */
final class Told implements Sink {
    /** What a client sees of an event. */
    record Event(@Nullable String id, String type, String data) {}

    private final List<Event> events = new CopyOnWriteArrayList<>();
    private volatile boolean isRead = true;
    private volatile int pending;
    private volatile @Nullable String lastId;
    private boolean isClosed;

    @Override
    public synchronized boolean offer(String id, @Nullable String type, String data) {
        if (isClosed) {
            return false;
        }
        lastId = id;
        if (type != null) {
            events.add(new Event(id, type, data));
        }
        if (!isRead) {
            pending += id.length() + data.length();
        }
        return true;
    }

    @Override
    public int pendingBytes() {
        return pending;
    }

    @Override
    public synchronized void end(String type, String data) {
        events.add(new Event(null, type, data));
    }

    /** The client goes; what comes later, it does not see. */
    synchronized void close() {
        isClosed = true;
    }

    /** From now on what is taken stays pending. */
    void stopReading() {
        isRead = false;
    }

    synchronized void readOn() {
        isRead = true;
        pending = 0;
    }

    /** What the client names when it connects anew; null before it was told. */
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
