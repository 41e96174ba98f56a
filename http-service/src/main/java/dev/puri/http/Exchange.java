package dev.puri.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its answer. Answered exactly once; a second answer is ignored, because the first may
 * have been a time-out that raced with it.
 */
public final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);
    private static final JsonFactory JSON = JsonFactory.builder().build();

    private final Vertx vertx;
    private final ListenerOptions options;
    private final HttpServerRequest request;
    private final Measured route;
    private final String parameter;
    private final long startedNanos = System.nanoTime();
    private boolean bodyUnread;

    Exchange(Vertx vertx, ListenerOptions options, HttpServerRequest request, Measured route, String parameter) {
        this.vertx = vertx;
        this.options = options;
        this.request = request;
        this.route = route;
        this.parameter = parameter;
    }

    /**
     * The path's parameter as it was sent: not empty, not percent-decoded. Bytes beyond ASCII, which a
     * URL should not have and {@code curl} sends all the same, are read as UTF-8.
     */
    public String parameter() {
        return parameter;
    }

    /** The first value of a query parameter, decoded; null when it is not given. */
    public @Nullable String query(String name) {
        return request.params().get(name);
    }

    /**
     * Reads the whole body within the listener's bounds, and answers a problem itself when one is
     * broken.
     *
     * @param then is called on the event loop with the body's bytes
     */
    public void readBody(Consumer<byte[]> then) {
        Buffer body = Buffer.buffer();
        bodyUnread = true;
        if (announcesTooMuch()) {
            problem(bodyTooLarge());
            return;
        }
        long timer = vertx.setTimer(
                options.bodyTimeout().toMillis(),
                id -> problem(Problem.of(
                        ProblemType.BODY_TOO_SLOW,
                        "The body was not there whole after "
                                + options.bodyTimeout().toMillis() + " ms.")));
        request.handler(chunk -> {
            if (body.length() + chunk.length() > options.maxBodyBytes()) {
                vertx.cancelTimer(timer);
                problem(bodyTooLarge());
            } else {
                body.appendBuffer(chunk);
            }
        });
        request.exceptionHandler(broken -> vertx.cancelTimer(timer));
        request.endHandler(end -> {
            vertx.cancelTimer(timer);
            bodyUnread = false;
            guarded(() -> then.accept(body.getBytes()));
        });
    }

    /** Answers JSON. */
    public void json(int status, JsonBody body) {
        answer(status, "application/json", json(body));
    }

    /** Answers a problem; the one place where an error becomes HTTP. */
    public void problem(Problem problem) {
        answer(problem.type().status(), Problem.MEDIA_TYPE, json(problem::writeTo));
    }

    /** Answers with bytes of any kind. */
    public void answer(int status, String mediaType, byte[] body) {
        answer(status, mediaType, Buffer.buffer(body));
    }

    /** Answers with bytes that take long to make: they are made on a thread that may block. */
    void answerFromWorker(int status, String mediaType, Callable<byte[]> body) {
        vertx.executeBlocking(body, false)
                .onSuccess(bytes -> answer(status, mediaType, bytes))
                .onFailure(this::bug);
    }

    /** Sets a header of the answer, before it is given. */
    public Exchange header(String name, String value) {
        request.response().putHeader(name, value);
        return this;
    }

    /** Runs a part of the answering; what it throws is our bug, and loud. */
    void guarded(Runnable part) {
        try {
            part.run();
        } catch (RuntimeException e) {
            bug(e);
        }
    }

    private void bug(Throwable bug) {
        String instance = "urn:uuid:" + UUID.randomUUID();
        log.error("{} {} failed, told to the caller as {}", request.method(), request.path(), instance, bug);
        Problem internal = Problem.of(ProblemType.INTERNAL, "The server's log tells more under this instance.");
        problem(new Problem(internal.type(), internal.detail(), instance, internal.extensions()));
    }

    private void answer(int status, String mediaType, Buffer body) {
        HttpServerResponse response = request.response();
        if (response.ended() || response.closed()) {
            return;
        }
        MultiMap headers = response.headers();
        headers.set("Content-Type", mediaType);
        headers.set("Content-Length", Integer.toString(body.length()));
        headers.set("Cache-Control", "no-store");
        headers.set("X-Content-Type-Options", "nosniff");
        if (bodyUnread) {
            headers.set("Connection", "close");
        }
        response.setStatusCode(status);
        response.end(body);
        if (bodyUnread) {
            closeAfterTheRest();
        }
        route.record(status, System.nanoTime() - startedNanos);
    }

    /**
     * Reads on what nobody wants, within bounds. Closing at once would reset the connection under a
     * client that is still sending, and the answer would be lost with it.
     */
    private void closeAfterTheRest() {
        long timer = vertx.setTimer(
                options.bodyTimeout().toMillis(), id -> request.connection().close());
        request.handler(chunk -> {});
        request.endHandler(end -> {
            vertx.cancelTimer(timer);
            request.connection().close();
        });
    }

    private boolean announcesTooMuch() {
        String announced = request.getHeader("Content-Length");
        try {
            return announced != null && Long.parseLong(announced) > options.maxBodyBytes();
        } catch (NumberFormatException e) {
            return true;
        }
    }

    private Problem bodyTooLarge() {
        return Problem.of(ProblemType.BODY_TOO_LARGE, "At most " + options.maxBodyBytes() + " bytes are taken.")
                .with("maxBytes", options.maxBodyBytes());
    }

    private static Buffer json(JsonBody body) {
        Buffer buffer = Buffer.buffer(256);
        try (JsonGenerator json = JSON.createGenerator(new BufferStream(buffer))) {
            body.writeTo(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return buffer.appendByte((byte) '\n');
    }

    private static final class BufferStream extends OutputStream {
        private final Buffer buffer;

        BufferStream(Buffer buffer) {
            this.buffer = buffer;
        }

        @Override
        public void write(int b) {
            buffer.appendByte((byte) b);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            buffer.appendBytes(bytes, offset, length);
        }
    }
}
