package dev.puri.resolver.live;

import dev.puri.http.EventStream;
import dev.puri.http.ServerSentEvent;

/** Where one subscriber's events go. Used by one thread at a time, not always the same; nothing here waits. */
public interface Sink {
    /**
     * Takes an event, which others may be given too.
     *
     * @return whether the stream goes on; false when the subscriber has gone
     */
    boolean offer(ServerSentEvent event);

    /** Bytes that were taken and that the subscriber has not. */
    int pendingBytes();

    /** Ends the stream with this as its last event. */
    void end(ServerSentEvent event);

    /**
     * A stream as a sink.
     *
     * @param stream by {@link ChangesOptions#terms}, so that it is never the one that drops its reader
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
