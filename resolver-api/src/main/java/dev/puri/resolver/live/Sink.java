package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import dev.puri.http.ServerSentEvent;

/** Receives the events of one subscriber. Used by one thread at a time, not always the same; no method waits. */
public interface Sink {
    /**
     * Sends an event, which other sinks may send too.
     *
     * @return false when the subscriber has gone
     */
    boolean offer(ServerSentEvent event);

    /** Bytes that were sent and that the subscriber has not read. */
    int pendingBytes();

    /** Ends the stream with this as its last event. */
    void end(ServerSentEvent event);

    /**
     * A sink that writes to a stream.
     *
     * @param stream with {@link ChangesOptions#streamOptions}, so that it never drops its reader itself
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
