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
 *         └──────── pending bytes ───────────┘  over the bound: event "dropped", end
 * </pre>
 *
 * Bytes are pending from {@code send} until the operating system has accepted them. A slow reader costs at most {@link
 * Options#maxPendingBytes} of memory; beyond that its stream ends.
 */
public final class EventStream {
    /** Why a stream ended. */
    public enum End {
        /** The client disconnected. */
        GONE,
        /** The client read too slowly. */
        SLOW,
        /** The server ended it. */
        ENDED
    }

    /**
     * The bounds of a stream.
     *
     * @param maxPendingBytes most pending bytes
     * @param heartbeat interval of comments while no events are sent, so that proxies do not close an idle connection
     */
    public record Options(int maxPendingBytes, Duration heartbeat) {}

    /** The format: media type, keep-alive bytes and the last event of a slow reader. */
    enum Form {
        EVENTS(
                "text/event-stream",
                ServerSentEvent.comment(),
                ServerSentEvent.of(null, "dropped", "{\"reason\":\"slow-reader\"}")),
        /** Keep-alives are empty lines. A reader detects a dropped stream by its missing last line. */
        LINES("application/x-ndjson", ServerSentEvent.encoded(new byte[] {'\n'}), ServerSentEvent.encoded(new byte[] {
            '\n'
        }));

        private final AsciiString mediaType;
        private final ServerSentEvent keepAlive;
        private final ServerSentEvent dropped;

        Form(String mediaType, ServerSentEvent keepAlive, ServerSentEvent dropped) {
            this.mediaType = AsciiString.cached(mediaType);
            this.keepAlive = keepAlive;
            this.dropped = dropped;
        }

        AsciiString mediaType() {
            return mediaType;
        }
    }

    /** Bursts are written in slices, between which the event loop serves other requests. */
    private static final int SLICE_BYTES = 64 << 10;

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Form form;
    private final Options options;
    private final Consumer<End> onEnd;
    private final Queue<ServerSentEvent> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicBoolean writing = new AtomicBoolean();
    private final AtomicReference<@Nullable Last> last = new AtomicReference<>();

    // Confined to the event loop.
    private boolean isOver;
    private boolean wroteSinceHeartbeat;
    private Runnable cancelHeartbeat = () -> {};

    /**
     * The stream's last event; events after it in the queue are not sent.
     *
     * @param event an object that was not sent before, because it is recognized by identity
     */
    private record Last(End end, ServerSentEvent event) {
        static Last of(End end, ServerSentEvent event) {
            return new Last(end, ServerSentEvent.encoded(event.bytes()));
        }
    }

    EventStream(Exchange exchange, HttpServerResponse response, Form form, Options options, Consumer<End> onEnd) {
        this.exchange = exchange;
        this.response = response;
        this.form = form;
        this.options = options;
        this.onEnd = onEnd;
    }

    /** Sends a first comment, and with it the response's head, and starts the heartbeat. */
    void begin() {
        if (form == Form.EVENTS) {
            send(form.keepAlive);
        }
        scheduleHeartbeat();
    }

    /**
     * Sends an event. If too many bytes are pending, ends the stream as slow instead.
     *
     * @return whether the stream is still open
     */
    public boolean send(ServerSentEvent event) {
        if (last.get() != null) {
            return false;
        }
        int length = event.length();
        if (pending.addAndGet(length) > options.maxPendingBytes()) {
            pending.addAndGet(-length);
            finish(Last.of(End.SLOW, form.dropped));
            return false;
        }
        queue.add(event);
        write();
        return true;
    }

    /** Ends the stream with this as its last event. Further calls do nothing. */
    public void end(ServerSentEvent event) {
        finish(Last.of(End.ENDED, event));
    }

    /** Whether the stream accepts events. */
    public boolean isOpen() {
        return last.get() == null;
    }

    /** Returns the number of pending bytes. */
    public int pendingBytes() {
        return pending.get();
    }

    /** Called when the connection is closed. */
    void gone() {
        last.compareAndSet(null, Last.of(End.GONE, form.keepAlive));
        over();
    }

    private void finish(Last end) {
        if (last.compareAndSet(null, end)) {
            queue.add(end.event());
            write();
        }
    }

    private void write() {
        if (writing.compareAndSet(false, true)) {
            exchange.later(this::writeSlice);
        }
    }

    private void writeSlice() {
        writing.set(false);
        if (isOver) {
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
            Last current = last.get();
            if (current != null && event == current.event()) {
                int earlierBytes = slice.length() - event.length();
                exchange.ended(response.end(slice).onComplete(written -> pending.addAndGet(-earlierBytes)));
                over();
                return;
            }
        }
        if (slice.length() > 0) {
            int length = slice.length();
            wroteSinceHeartbeat = true;
            response.write(slice).onComplete(written -> pending.addAndGet(-length));
            if (!queue.isEmpty()) {
                write();
            }
        }
    }

    private void over() {
        if (!isOver) {
            isOver = true;
            cancelHeartbeat.run();
            queue.clear();
            Last current = last.get();
            exchange.guarded(() -> onEnd.accept(current == null ? End.GONE : current.end()));
        }
    }

    private void scheduleHeartbeat() {
        cancelHeartbeat = exchange.after(options.heartbeat(), () -> {
            if (!wroteSinceHeartbeat) {
                send(form.keepAlive);
            }
            wroteSinceHeartbeat = false;
            if (!isOver) {
                scheduleHeartbeat();
            }
        });
    }
}
