package dev.puri.http;

import io.netty.handler.codec.CodecException;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, which is read within the listener's bounds. If it is too long, too slow or has invalid
 * framing, the exchange responds with a problem. Confined to the exchange's event loop.
 */
final class RequestBody {
    private static final long NO_ERROR = 0;

    private final Exchange exchange;
    private final ListenerLoop loop;
    private final HttpServerRequest request;
    private boolean isUnread = true;
    private long beganNanos;

    /** The chunks read so far. Most bodies arrive in one chunk, which is copied only once. */
    private @Nullable Buffer chunks;

    private boolean isCopy;

    RequestBody(Exchange exchange, ListenerLoop loop, HttpServerRequest request) {
        this.exchange = exchange;
        this.loop = loop;
        this.request = request;
    }

    /**
     * Reads the whole body.
     *
     * @param then called on the event loop with the body's bytes, unless a bound is exceeded
     */
    void read(Consumer<byte[]> then) {
        if (announcesTooMuch()) {
            tooLarge();
            return;
        }
        beganNanos = System.nanoTime();
        loop.deadlines().bodyStarted(this);
        request.handler(chunk -> {
            if (length() + chunk.length() > loop.options().maxBodyBytes()) {
                loop.deadlines().bodyEnded(this);
                tooLarge();
            } else {
                add(chunk);
            }
        });
        request.exceptionHandler(this::broken);
        request.endHandler(end -> {
            loop.deadlines().bodyEnded(this);
            isUnread = false;
            exchange.guarded(() -> then.accept(chunks == null ? new byte[0] : chunks.getBytes()));
        });
    }

    private int length() {
        return chunks == null ? 0 : chunks.length();
    }

    private void add(Buffer chunk) {
        if (chunks == null) {
            chunks = chunk;
            return;
        }
        if (!isCopy) {
            chunks = Buffer.buffer(2 * (chunks.length() + chunk.length())).appendBuffer(chunks);
            isCopy = true;
        }
        chunks.appendBuffer(chunk);
    }

    /** Whether the client may still send bytes of the body. */
    boolean isUnread() {
        return isUnread;
    }

    /** The time when reading began, by {@link System#nanoTime}. */
    long beganNanos() {
        return beganNanos;
    }

    private boolean announcesTooMuch() {
        String announced = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        try {
            return announced != null
                    && Long.parseLong(announced) > loop.options().maxBodyBytes();
        } catch (NumberFormatException e) {
            return true;
        }
    }

    private void tooLarge() {
        int most = loop.options().maxBodyBytes();
        loop.deadlines().countExceeded(Limit.BODY_TOO_LARGE);
        exchange.problem(Problem.of(ProblemType.BODY_TOO_LARGE, "At most " + most + " bytes are taken.")
                .with("maxBytes", most));
    }

    void tooSlow() {
        loop.deadlines().countExceeded(Limit.BODY_TOO_SLOW);
        exchange.problem(Problem.of(
                ProblemType.BODY_TOO_SLOW,
                "The body was not there whole after "
                        + loop.options().limits().bodyTimeout().toMillis() + " ms."));
    }

    /** Called when the body cannot be read to its end: its framing is invalid, or the client has disconnected. */
    private void broken(Throwable cause) {
        loop.deadlines().bodyEnded(this);
        boolean isFraming = cause instanceof IllegalArgumentException || cause instanceof CodecException;
        if (isFraming && !exchange.isHttp2()) {
            // The beginning of the next request is unknown, so Vert.x closes the connection next, even with unflushed
            // data.
            isUnread = false;
            exchange.header(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            exchange.problem(brokenFraming(cause, "The body's chunks cannot be read."));
            RawConnection.flush(request.connection());
        }
    }

    /**
     * Returns the problem of a message with invalid framing.
     *
     * @param otherwise the detail if the cause is not a {@link StrictRequestDecoder.FramingException}
     */
    static Problem brokenFraming(Throwable cause, String otherwise) {
        return Problem.of(
                ProblemType.BAD_REQUEST,
                cause instanceof StrictRequestDecoder.FramingException rule
                        ? String.valueOf(rule.getMessage())
                        : otherwise);
    }

    /**
     * Discards the rest of a refused body. On HTTP/1.1 it is read, within the body's time-out, before the connection is
     * closed: closing at once would reset the connection of a client that is still sending, which would then lose the
     * response. On HTTP/2 a reset of the stream makes the client stop sending (RFC 9113, 8.1).
     *
     * @param written completes when the response is written
     */
    void discard(Future<Void> written) {
        request.handler(chunk -> {});
        if (exchange.isHttp2()) {
            written.onSuccess(done -> request.response().reset(NO_ERROR));
            return;
        }
        Runnable cancel = exchange.after(
                loop.options().limits().bodyTimeout(),
                () -> request.connection().close());
        request.endHandler(end -> {
            cancel.run();
            request.connection().close();
        });
    }
}
