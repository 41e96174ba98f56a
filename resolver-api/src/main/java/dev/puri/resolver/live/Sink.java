package dev.puri.resolver.live;

import org.jspecify.annotations.Nullable;

/**
 * Where one subscriber's events go: a stream of server-sent events. Events are given by one thread at a
 * time, never the same for long; nothing here may wait.
 */
public interface Sink {
    /**
     * Takes an event.
     *
     * @param id what the subscriber has to name when it connects anew
     * @param type null when only the id is to be told
     * @param data JSON on one line; empty when only the id is to be told
     * @return whether the stream goes on; false when the subscriber has gone
     */
    boolean offer(String id, @Nullable String type, String data);

    /** Bytes that were taken and not sent yet. */
    int pendingBytes();

    /** Ends the stream with this as its last event. */
    void end(String type, String data);
}
