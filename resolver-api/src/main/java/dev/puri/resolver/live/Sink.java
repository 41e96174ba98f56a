package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import dev.puri.http.ServerSentEvent;

/** Sends server-sent events to one subscriber. Used by one thread at a time; no method blocks. */
public interface Sink {
    /**
     * Sends an event. Several sinks may share the event object, so an implementation must not change it.
     *
     * @return false if the subscriber has gone
     */
    boolean offer(ServerSentEvent event);

    /** Number of bytes that were accepted and are not written to the connection yet. */
    int pendingBytes();

    /** Sends a last event and ends the stream. */
    void end(ServerSentEvent event);

    /**
     * Returns a sink that writes to a stream.
     *
     * @param stream opened with {@link ChangesOptions#streamOptions}, so that it does not end because of a slow reader.
     *     The user of the sink ends it, by {@link #pendingBytes}
     */
    static Sink of(EventStream stream) {
        return new Sink() {
            @Override
            public boolean offer(ServerSentEvent event) {
                return stream.send(event);
            }

            @Override
            public int pendingBytes() {
                return stream.pendingBytes();
            }

            @Override
            public void end(ServerSentEvent event) {
                stream.end(event);
            }
        };
    }
}
