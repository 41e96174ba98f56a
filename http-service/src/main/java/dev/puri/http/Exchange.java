package dev.puri.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request and its answer. Answered exactly once; a second answer is ignored, because the first may
 * have been a time-out that raced with it.
 *
 * <p>All of it belongs to one event loop, on which the {@link Endpoint} is called. It may be answered
 * later and from elsewhere by {@link #later}.
 */
public final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);
    private static final JsonFactory JSON = JsonFactory.builder().build();

    private final Vertx vertx;
    private final Context context;
    private final ListenerOptions options;
    private final HttpServerRequest request;
    private final Measured route;
    private final String parameter;
    private final long startedNanos = System.nanoTime();
    private boolean bodyUnread;
    private boolean answered;

    Exchange(
            Vertx vertx,
            Context context,
            ListenerOptions options,
            HttpServerRequest request,
            Measured route,
            String parameter) {
        this.vertx = vertx;
        this.context = context;
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

    /** A header of the request as it was sent, the first of that name; null when there is none. */
    public @Nullable String requestHeader(String name) {
        return request.getHeader(name);
    }

    /**
     * Goes on with the answering on the exchange's event loop, soon. May be called from any thread; it
     * is how work done elsewhere comes back to be answered.
     *
     * @param part what it throws is answered as our bug, status 500
     */
    public void later(Runnable part) {
        context.runOnContext(none -> guarded(part));
    }

    /**
     * Goes on with the answering after a while, unless that is cancelled. To be called on the event loop.
     *
     * @return cancels it, on the event loop
     */
    public Runnable after(Duration delay, Runnable part) {
        assert Context.isOnEventLoopThread() : "a timer would belong to no exchange";
        long timer = vertx.setTimer(Math.max(1, delay.toMillis()), id -> guarded(part));
        return () -> vertx.cancelTimer(timer);
    }

    /**
     * Calls back on the event loop when the client goes before it has been answered. A client of HTTP/1.1
     * that has sent another request meanwhile is not seen to go, for its connection is not read on: so
     * every wait must have an end of its own. To be called on the event loop, once.
     */
    public void onGone(Runnable gone) {
        request.response().closeHandler(none -> {
            if (!answered) {
                answered = true;
                guarded(gone);
            }
        });
    }

    /** Whether nothing can be answered any more: it has been, or the client has gone. */
    public boolean isOver() {
        return answered || request.response().closed();
    }

    /**
     * Answers with a stream of events, which ends when either side does. To be called on the event loop.
     *
     * @param onEnd is called once, on the event loop
     */
    public EventStream events(EventStream.Terms terms, Consumer<EventStream.End> onEnd) {
        HttpServerResponse response = request.response();
        EventStream stream = new EventStream(this, response, terms, onEnd);
        if (!begin(200, "text/event-stream")) {
            stream.gone();
            return stream;
        }
        // nginx keeps what it proxies until it has enough of it, unless told not to.
        response.putHeader("X-Accel-Buffering", "no");
        if (request.method() == HttpMethod.HEAD) {
            response.end();
            stream.gone();
            return stream;
        }
        response.setChunked(true);
        response.closeHandler(none -> stream.gone());
        stream.begin();
        return stream;
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
                options.limits().bodyTimeout().toMillis(),
                id -> problem(Problem.of(
                        ProblemType.BODY_TOO_SLOW,
                        "The body was not there whole after "
                                + options.limits().bodyTimeout().toMillis() + " ms.")));
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
        if (!begin(status, mediaType)) {
            return;
        }
        HttpServerResponse response = request.response();
        response.headers().set("Content-Length", Integer.toString(body.length()));
        response.end(body);
        if (bodyUnread) {
            closeAfterTheRest();
        }
    }

    /** Begins the answer with what every one has; false when there is nobody or nothing to answer any more. */
    private boolean begin(int status, String mediaType) {
        assert Context.isOnEventLoopThread() : "answered from another thread; Exchange.later is the way back";
        HttpServerResponse response = request.response();
        if (isOver()) {
            return false;
        }
        answered = true;
        MultiMap headers = response.headers();
        headers.set("Content-Type", mediaType);
        headers.set("Cache-Control", "no-store");
        headers.set("X-Content-Type-Options", "nosniff");
        if (bodyUnread) {
            headers.set("Connection", "close");
        }
        response.setStatusCode(status);
        route.record(status, System.nanoTime() - startedNanos);
        return true;
    }

    Context context() {
        return context;
    }

    /** Cuts the client off if it has not taken the end of its answer in the time that a body may take. */
    void cutOffUnless(Future<Void> taken) {
        Runnable cancel = after(options.limits().bodyTimeout(), this::cutOff);
        taken.onComplete(written -> {
            cancel.run();
            if (request.version() == HttpVersion.HTTP_1_0) {
                // Its only sign of an end, where nothing announced the length.
                request.connection().close();
            }
        });
    }

    private void cutOff() {
        if (request.version() != HttpVersion.HTTP_2) {
            HardClose.of(request.connection());
            return;
        }
        // The stream alone, so that others of the connection live on, unless the client takes not even that.
        Runnable cancel = after(options.limits().bodyTimeout(), () -> HardClose.of(request.connection()));
        request.response().reset().onComplete(written -> cancel.run());
    }

    /**
     * Reads on what nobody wants, within bounds. Closing at once would reset the connection under a
     * client that is still sending, and the answer would be lost with it.
     */
    private void closeAfterTheRest() {
        long timer = vertx.setTimer(
                options.limits().bodyTimeout().toMillis(),
                id -> request.connection().close());
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
