package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import dev.puri.http.ServerSentEvent;

/** Receives the events of one subscriber. Used by one thread at a time; no method blocks. */
public interface Sink {
    /**
     * Sends an event. Other sinks may send the same event.
     *
     * @return false if the subscriber has gone
     */
    boolean offer(ServerSentEvent event);

    /** Number of sent bytes that the subscriber has not read yet. */
    int pendingBytes();

    /** Sends a last event and ends the stream. */
    void end(ServerSentEvent event);

    /**
     * Returns a sink that writes to a stream.
     *
     * @param stream must have {@link ChangesOptions#streamOptions}, so that the stream never drops its reader itself
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
