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
 * An answer that goes on: server-sent events ({@code text/event-stream}), or lines of JSON ({@code
 * application/x-ndjson}). They may be sent from any thread; each thread's arrive in its order.
 *
 * <pre>
 * send ─▶ queue ─▶ event loop, in slices ─▶ socket
 *         └──────── pending bytes ───────────┘  over the bound: event "dropped", end
 * </pre>
 *
 * Bytes count as pending from {@code send} until the operating system has taken them, so a reader that
 * does not keep up costs at most {@link Terms#maxPendingBytes}, and then its stream.
 */
public final class EventStream {
    /** Why a stream is no more. */
    public enum End {
        /** The client has gone. */
        GONE,
        /** The client read too slowly. */
        SLOW,
        /** We ended it. */
        ENDED
    }

    /**
     * @param maxPendingBytes most bytes sent that the client has not taken
     * @param heartbeat how often a comment is sent when there is nothing else, so that neither side nor
     *     any proxy between takes the connection for dead
     */
    public record Terms(int maxPendingBytes, Duration heartbeat) {}

    /** What is sent: how it is called, and what stands in it beside what is told. */
    enum Form {
        EVENTS(
                "text/event-stream",
                ServerSentEvent.comment(),
                ServerSentEvent.of(null, "dropped", "{\"reason\":\"slow-reader\"}")),
        /** Empty lines keep the connection; one that is cut off lacks its last line. */
        LINES("application/x-ndjson", ServerSentEvent.encoded(new byte[] {'\n'}), ServerSentEvent.encoded(new byte[] {
            '\n'
        }));

        private final AsciiString mediaType;
        private final ServerSentEvent idle;
        private final ServerSentEvent dropped;

        Form(String mediaType, ServerSentEvent idle, ServerSentEvent dropped) {
            this.mediaType = AsciiString.cached(mediaType);
            this.idle = idle;
            this.dropped = dropped;
        }

        AsciiString mediaType() {
            return mediaType;
        }
    }

    /** A burst is written in parts, between which the event loop serves others. */
    private static final int SLICE = 64 << 10;

    private final Exchange exchange;
    private final HttpServerResponse response;
    private final Form form;
    private final Terms terms;
    private final Consumer<End> onEnd;
    private final Queue<ServerSentEvent> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicBoolean writing = new AtomicBoolean();
    private final AtomicReference<@Nullable Last> last = new AtomicReference<>();

    // Of the event loop alone.
    private boolean over;
    private boolean wroteSinceHeartbeat;
    private Runnable heartbeat = () -> {};

    /**
     * The stream's last event; nothing of the queue behind it is sent.
     *
     * @param event not the same object as any before it
     */
    private record Last(End end, ServerSentEvent event) {
        static Last of(End end, ServerSentEvent event) {
            return new Last(end, ServerSentEvent.encoded(event.bytes()));
        }
    }

    EventStream(Exchange exchange, HttpServerResponse response, Form form, Terms terms, Consumer<End> onEnd) {
        this.exchange = exchange;
        this.response = response;
        this.form = form;
        this.terms = terms;
        this.onEnd = onEnd;
    }

    /** Sends the head, which goes out with the first bytes. */
    void begin() {
        if (form == Form.EVENTS) {
            send(form.idle);
        }
        scheduleHeartbeat();
    }

    /**
     * Sends an event, unless too much is pending already: then the stream is ended as slow.
     *
     * @return whether the stream goes on
     */
    public boolean send(ServerSentEvent event) {
        if (last.get() != null) {
            return false;
        }
        int length = event.length();
        if (pending.addAndGet(length) > terms.maxPendingBytes()) {
            pending.addAndGet(-length);
            finish(Last.of(End.SLOW, form.dropped));
            return false;
        }
        queue.add(event);
        write();
        return true;
    }

    /** Ends the stream after what was sent, with this event as its last. May be called more than once. */
    public void end(ServerSentEvent event) {
        finish(Last.of(End.ENDED, event));
    }

    /** Whether events are still taken. */
    public boolean isOpen() {
        return last.get() == null;
    }

    /** Bytes sent that the client has not taken yet. */
    public int pendingBytes() {
        return pending.get();
    }

    /** The client has gone, or the connection was closed under it. */
    void gone() {
        last.compareAndSet(null, Last.of(End.GONE, form.idle));
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
        if (over) {
            queue.clear();
            return;
        }
        Buffer slice = Buffer.buffer();
        while (slice.length() < SLICE) {
            ServerSentEvent event = queue.poll();
            if (event == null) {
                break;
            }
            slice.appendBytes(event.bytes());
            Last end = last.get();
            if (end != null && event == end.event()) {
                int before = slice.length() - event.length();
                exchange.ended(response.end(slice).onComplete(written -> pending.addAndGet(-before)));
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
        if (!over) {
            over = true;
            heartbeat.run();
            queue.clear();
            Last end = last.get();
            exchange.guarded(() -> onEnd.accept(end == null ? End.GONE : end.end()));
        }
    }

    private void scheduleHeartbeat() {
        heartbeat = exchange.after(terms.heartbeat(), () -> {
            if (!wroteSinceHeartbeat) {
                send(form.idle);
            }
            wroteSinceHeartbeat = false;
            if (!over) {
                scheduleHeartbeat();
            }
        });
    }
}
