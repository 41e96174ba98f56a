package dev.puri.http;

import io.netty.handler.codec.CodecException;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a request within the listener's limits. If the body is too long, arrives too slowly or, on
 * HTTP/1.1, has invalid framing, the exchange responds with a problem (RFC 9457). Confined to the exchange's event
 * loop.
 */
final class RequestBody {
    private static final long NO_ERROR = 0;

    private final Exchange exchange;
    private final ListenerLoop loop;
    private final HttpServerRequest request;
    private boolean isIncomplete = true;
    private long startedAtNanos;

    /** The bytes received so far: the first chunk itself, or a copy of all chunks if there are several. */
    private @Nullable Buffer received;

    private boolean ownsBuffer;

    RequestBody(Exchange exchange, ListenerLoop loop, HttpServerRequest request) {
        this.exchange = exchange;
        this.loop = loop;
        this.request = request;
    }

    /**
     * Reads the whole body.
     *
     * @param onBody called on the event loop with the body's bytes, if the whole body arrives within the limits
     */
    void read(Consumer<byte[]> onBody) {
        if (contentLengthExceedsLimit()) {
            respondTooLarge();
            return;
        }
        startedAtNanos = System.nanoTime();
        loop.deadlines().bodyStarted(this);
        request.handler(chunk -> {
            if (length() + chunk.length() > loop.options().maxBodyBytes()) {
                loop.deadlines().bodyEnded(this);
                respondTooLarge();
            } else {
                add(chunk);
            }
        });
        request.exceptionHandler(this::onReadFailure);
        request.endHandler(end -> {
            loop.deadlines().bodyEnded(this);
            isIncomplete = false;
            exchange.runGuarded(() -> onBody.accept(received == null ? new byte[0] : received.getBytes()));
        });
    }

    private int length() {
        return received == null ? 0 : received.length();
    }

    private void add(Buffer chunk) {
        if (received == null) {
            received = chunk;
            return;
        }
        if (!ownsBuffer) {
            received = Buffer.buffer(2 * (received.length() + chunk.length())).appendBuffer(received);
            ownsBuffer = true;
        }
        received.appendBuffer(chunk);
    }

    /** Returns whether the client may still send bytes of the body. */
    boolean isIncomplete() {
        return isIncomplete;
    }

    /** Returns the time at which reading started, by {@link System#nanoTime}. */
    long startedAtNanos() {
        return startedAtNanos;
    }

    private boolean contentLengthExceedsLimit() {
        String contentLength = request.getHeader(HttpHeaders.CONTENT_LENGTH);
        try {
            return contentLength != null
                    && Long.parseLong(contentLength) > loop.options().maxBodyBytes();
        } catch (NumberFormatException e) {
            return true;
        }
    }

    private void respondTooLarge() {
        int maxBytes = loop.options().maxBodyBytes();
        loop.countExceeded(Limit.BODY_TOO_LARGE);
        exchange.problem(Problem.of(ProblemType.BODY_TOO_LARGE, "The body must not exceed " + maxBytes + " bytes.")
                .with("maxBytes", maxBytes));
    }

    void respondTooSlow() {
        loop.countExceeded(Limit.BODY_TOO_SLOW);
        exchange.problem(Problem.of(
                ProblemType.BODY_TOO_SLOW,
                "The whole body did not arrive within "
                        + loop.options().limits().bodyTimeout().toMillis() + " ms."));
    }

    /** Called when the body cannot be read to its end: its framing is invalid, or the client has disconnected. */
    private void onReadFailure(Throwable cause) {
        loop.deadlines().bodyEnded(this);
        boolean isFramingError = cause instanceof IllegalArgumentException || cause instanceof CodecException;
        if (isFramingError && !exchange.isHttp2()) {
            // Vert.x closes a connection after invalid framing, because the start of the next request is unknown. It
            // would discard an unflushed response, so the response is flushed now.
            isIncomplete = false;
            exchange.header(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
            exchange.problem(framingProblem(cause, "The chunks of the body are invalid."));
            RawConnection.flush(request.connection());
        }
    }

    /**
     * Returns the problem for a message with invalid framing.
     *
     * @param defaultDetail the detail if the cause is not a {@link StrictRequestDecoder.FramingException}
     */
    static Problem framingProblem(Throwable cause, String defaultDetail) {
        return Problem.of(
                ProblemType.BAD_REQUEST,
                cause instanceof StrictRequestDecoder.FramingException violation
                        ? String.valueOf(violation.getMessage())
                        : defaultDetail);
    }

    /**
     * Discards the rest of a refused body. On HTTP/1.1 the rest is read, within the body timeout, before the connection
     * closes: closing at once would reset the connection while the client still sends, and the client would lose the
     * response. On HTTP/2 a reset of the stream makes the client stop sending (RFC 9113, 8.1).
     *
     * @param written completes when the response is written
     */
    void discard(Future<Void> written) {
        request.handler(chunk -> {});
        if (exchange.isHttp2()) {
            // The client may end the body before it receives the reset.
            request.endHandler(end -> {});
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
