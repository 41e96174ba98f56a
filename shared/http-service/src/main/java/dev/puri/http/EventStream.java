package dev.puri.http;

import io.netty.util.AsciiString;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A streaming response: server-sent events ({@code text/event-stream}) or lines of JSON ({@code application/x-ndjson}).
 * Any thread may send; events of one thread keep their order.
 *
 * <pre>
 * send ─▶ queue ─▶ event loop, in slices ─▶ socket
 *         └──────── pending bytes ───────────┘  over the limit: event "dropped", end
 * </pre>
 *
 * Bytes are pending from {@code send} until the operating system has accepted them. A slow reader takes at most {@link
 * Options#maxPendingBytes} of memory; beyond that its stream ends.
 */
public final class EventStream {
    /** Why a stream ended. */
    public enum End {
        /** The client disconnected, or it sent a HEAD request. */
        GONE,
        /** The client read too slowly. */
        SLOW,
        /** The server ended the stream. */
        BY_SERVER
    }

    /**
     * The limits of a stream.
     *
     * @param maxPendingBytes the maximum number of pending bytes
     * @param heartbeat the period of keep-alives, so that proxies do not close the connection. No keep-alive is sent at
     *     the end of a period in which an event was sent, so the stream may be silent for almost two periods
     */
    public record Options(int maxPendingBytes, Duration heartbeat) {}

    /** The format of a stream: its media type, its keep-alive bytes, and the last event that a slow reader gets. */
    enum Format {
        EVENTS(
                "text/event-stream",
                ServerSentEvent.comment(),
                ServerSentEvent.of(null, "dropped", "{\"reason\":\"slow-reader\"}")),
        /**
         * Keep-alives are empty lines. A slow reader gets no notice: it detects the early end, because the last line of
         * a complete stream is missing: each endpoint ends its stream with a summary line.
         */
        LINES("application/x-ndjson", ServerSentEvent.encoded(new byte[] {'\n'}), ServerSentEvent.encoded(new byte[] {
            '\n'
        }));

        private final AsciiString mediaType;
        private final ServerSentEvent keepAlive;
        private final ServerSentEvent dropped;

        Format(String mediaType, ServerSentEvent keepAlive, ServerSentEvent dropped) {
            this.mediaType = AsciiString.cached(mediaType);
            this.keepAlive = keepAlive;
            this.dropped = dropped;
        }

        AsciiString mediaType() {
            return mediaType;
        }
    }

    /** A slice is complete when it has at least this size. Between two slices, the event loop serves other requests. */
    private static final int SLICE_BYTES = 64 << 10;

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Format format;
    private final Options options;
    private final Consumer<End> onEnd;
    private final Queue<ServerSentEvent> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pendingByteCount = new AtomicInteger();
    private final AtomicBoolean isWriteScheduled = new AtomicBoolean();
    private final AtomicReference<@Nullable LastEvent> lastEvent = new AtomicReference<>();

    // Confined to the event loop.

    /** Whether the last event was written or the client has gone, and {@link #onEnd} was called. */
    private boolean isEndReported;

    private boolean hasSentSinceHeartbeat;
    private Runnable cancelHeartbeat = () -> {};

    /**
     * The last event of the stream, and why the stream ends. Later events in the queue are not sent.
     *
     * @param event a new object, so that the writer recognizes it in the queue by identity, even if the caller has sent
     *     an equal event before
     */
    private record LastEvent(End end, ServerSentEvent event) {
        static LastEvent of(End end, ServerSentEvent event) {
            return new LastEvent(end, ServerSentEvent.encoded(event.bytes()));
        }
    }

    EventStream(Exchange exchange, HttpServerResponse response, Format format, Options options, Consumer<End> onEnd) {
        this.exchange = exchange;
        this.response = response;
        this.format = format;
        this.options = options;
        this.onEnd = onEnd;
    }

    /**
     * Starts the heartbeat. In the format {@code EVENTS} it also sends a comment, so that the client receives the
     * response headers at once.
     */
    void start() {
        if (format == Format.EVENTS) {
            send(format.keepAlive);
        }
        scheduleHeartbeat();
    }

    /**
     * Sends an event. If too many bytes are pending, ends the stream as slow instead.
     *
     * @return whether the stream is still open
     */
    public boolean send(ServerSentEvent event) {
        if (lastEvent.get() != null) {
            return false;
        }
        int length = event.length();
        if (pendingByteCount.addAndGet(length) > options.maxPendingBytes()) {
            pendingByteCount.addAndGet(-length);
            finish(LastEvent.of(End.SLOW, format.dropped));
            return false;
        }
        queue.add(event);
        write();
        return true;
    }

    /** Ends the stream with this event as its last one. Further calls do nothing. */
    public void end(ServerSentEvent event) {
        finish(LastEvent.of(End.BY_SERVER, event));
    }

    /** Returns whether the stream accepts events. */
    public boolean isOpen() {
        return lastEvent.get() == null;
    }

    /** Returns the number of pending bytes. */
    public int pendingBytes() {
        return pendingByteCount.get();
    }

    /** Called when the connection is closed, or after a HEAD request, whose response has no body. */
    void onDisconnect() {
        lastEvent.compareAndSet(null, LastEvent.of(End.GONE, format.keepAlive));
        reportEnd();
    }

    private void finish(LastEvent event) {
        if (lastEvent.compareAndSet(null, event)) {
            queue.add(event.event());
            write();
        }
    }

    private void write() {
        if (isWriteScheduled.compareAndSet(false, true)) {
            exchange.runOnEventLoop(this::writeSlice);
        }
    }

    private void writeSlice() {
        isWriteScheduled.set(false);
        if (isEndReported) {
            queue.clear();
            return;
        }
        Buffer slice = Buffer.buffer();
        while (slice.length() < SLICE_BYTES) {
            ServerSentEvent event = queue.poll();
            if (event == null) {
                break;
            }
            slice.appendBytes(event.bytes());
            hasSentSinceHeartbeat |= event != format.keepAlive;
            LastEvent current = lastEvent.get();
            if (current != null && event == current.event()) {
                int earlierBytes = slice.length() - event.length();
                exchange.onStreamWritten(
                        response.end(slice).onComplete(written -> pendingByteCount.addAndGet(-earlierBytes)));
                reportEnd();
                return;
            }
        }
        if (slice.length() > 0) {
            int length = slice.length();
            response.write(slice).onComplete(written -> pendingByteCount.addAndGet(-length));
            if (!queue.isEmpty()) {
                write();
            }
        }
    }

    /** Marks the stream as ended and calls the callback. Further calls do nothing. */
    private void reportEnd() {
        if (!isEndReported) {
            isEndReported = true;
            cancelHeartbeat.run();
            queue.clear();
            LastEvent current = lastEvent.get();
            exchange.runGuarded(() -> onEnd.accept(current == null ? End.GONE : current.end()));
        }
    }

    private void scheduleHeartbeat() {
        cancelHeartbeat = exchange.after(options.heartbeat(), () -> {
            if (!hasSentSinceHeartbeat) {
                send(format.keepAlive);
            }
            hasSentSinceHeartbeat = false;
            if (!isEndReported) {
                scheduleHeartbeat();
            }
        });
    }
}
