package dev.puri.http;

import io.netty.util.AsciiString;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * A request and its response. A second response is ignored, because the first may be a time-out that raced with it.
 *
 * <p>Confined to one event loop, which also calls the {@link Endpoint}. Other threads respond through {@link #later}.
 */
public final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    // Cached, so that a response allocates no header texts.
    private static final AsciiString NO_STORE = AsciiString.cached("no-store");
    private static final AsciiString NO_CACHE = AsciiString.cached("no-cache");
    private static final AsciiString CONTENT_TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
    private static final AsciiString NO_SNIFF = AsciiString.cached("nosniff");
    private static final AsciiString TRACEPARENT = AsciiString.cached("traceparent");
    private static final AsciiString APPLICATION_JSON = AsciiString.cached("application/json");
    private static final AsciiString PROBLEM_JSON = AsciiString.cached(Problem.MEDIA_TYPE);
    private static final AsciiString[] SMALL_LENGTHS = new AsciiString[2048];

    static {
        for (int i = 0; i < SMALL_LENGTHS.length; i++) {
            SMALL_LENGTHS[i] = AsciiString.cached(Integer.toString(i));
        }
    }

    private final ListenerLoop loop;
    private final ConnectionDeadlines.Connection connection;
    private final HttpServerRequest request;
    private final MeasuredRoute route;
    private final String parameter;
    private final @Nullable TraceContext trace;
    private final long startedNanos = System.nanoTime();
    private @Nullable RequestBody requestBody;
    private boolean answered;
    private boolean released;
    private boolean isStream;

    /** Links of the event loop's list of unanswered exchanges, which {@link ConnectionDeadlines} maintains. */
    @Nullable
    Exchange previous;

    @Nullable
    Exchange next;

    private String bearer = "";
    private AsciiString cacheControl = NO_STORE;
    private @Nullable Runnable onGone;

    Exchange(ListenerLoop loop, HttpServerRequest request, MeasuredRoute route, String parameter) {
        this.loop = loop;
        this.request = request;
        this.route = route;
        this.parameter = parameter;
        trace = TraceContext.parse(request.headers().get(TRACEPARENT));
        connection = loop.deadlines().find(request.connection());
        connection.requestStarted();
        loop.deadlines().addUnanswered(this);
        // On HTTP/2 this is called when the request's stream closes; the connection may stay open.
        request.response().closeHandler(closed -> closed());
    }

    /**
     * The path's parameter as the client sent it: not empty, not percent-decoded. Bytes beyond ASCII, which are invalid
     * in a URL but which {@code curl} sends, are decoded as UTF-8.
     */
    public String parameter() {
        return parameter;
    }

    /**
     * Returns an object that identifies the connection: equal for all its requests, different for other connections.
     */
    public Object connection() {
        return connection;
    }

    /** Returns the first value of a query parameter, decoded, or null if it is absent. */
    public @Nullable String query(String name) {
        // Without a query, params() would only allocate.
        return request.query() == null ? null : request.params().get(name);
    }

    /** Returns all values of a query parameter, decoded, in their order; empty if it is absent. */
    public List<String> queryAll(String name) {
        return request.query() == null ? List.of() : request.params().getAll(name);
    }

    /** Returns the first header of this name, as the client sent it, or null if there is none. */
    public @Nullable String requestHeader(String name) {
        return request.getHeader(name);
    }

    List<String> requestHeaders(String name) {
        return request.headers().getAll(name);
    }

    /** Sets the name of the caller, for the log. */
    void bearer(String name) {
        bearer = name;
    }

    /**
     * Runs a task on the exchange's event loop. Any thread may call this, to respond with the result of work done
     * elsewhere. Does nothing after the listener has closed.
     *
     * @param part if it throws, the response has status 500
     */
    public void later(Runnable part) {
        try {
            loop.context().runOnContext(none -> guarded(part));
        } catch (RejectedExecutionException e) {
            log.debug("The listener has closed; a response is dropped");
        }
    }

    /**
     * Runs a task on the event loop after a delay. Must be called on the event loop.
     *
     * @return cancels the task; must run on the event loop
     */
    public Runnable after(Duration delay, Runnable part) {
        assert Context.isOnEventLoopThread() : "not called on the event loop";
        long timer = loop.vertx().setTimer(Math.max(1, delay.toMillis()), id -> guarded(part));
        return () -> loop.vertx().cancelTimer(timer);
    }

    /**
     * Sets a callback, run on the event loop, for a client that disconnects before the response. On HTTP/1.1 this is
     * not detected if the client has sent another request, because the connection is not read meanwhile; so every wait
     * also needs a time-out. Must be called on the event loop, at most once.
     */
    public void onGone(Runnable callback) {
        onGone = callback;
    }

    /** Called when the client has disconnected, possibly within the body. */
    private void closed() {
        Runnable callback = onGone;
        onGone = null;
        boolean wasUnanswered = !answered;
        answered = true;
        loop.deadlines().removeUnanswered(this);
        release(0);
        if (callback != null && wasUnanswered) {
            guarded(callback);
        }
    }

    /** Ends this request for the connection's deadline. */
    private void release(long responseBytes) {
        if (!released) {
            released = true;
            connection.requestEnded(responseBytes);
        }
    }

    /** Whether no response is possible: there was one, or the client has disconnected. */
    public boolean isOver() {
        return answered || request.response().closed();
    }

    /**
     * Responds with a stream of events. Must be called on the event loop.
     *
     * @param onEnd called once, on the event loop, when either side has ended the stream
     */
    public EventStream events(EventStream.Options options, Consumer<EventStream.End> onEnd) {
        return stream(EventStream.Form.EVENTS, options, onEnd);
    }

    /**
     * Responds with lines of JSON values; {@link ServerSentEvent#encoded} wraps a line with its line break. Otherwise
     * like {@link #events}.
     */
    public EventStream lines(EventStream.Options options, Consumer<EventStream.End> onEnd) {
        return stream(EventStream.Form.LINES, options, onEnd);
    }

    private EventStream stream(EventStream.Form form, EventStream.Options options, Consumer<EventStream.End> onEnd) {
        EventStream stream = new EventStream(this, request.response(), form, options, onEnd);
        if (beginChunks(form.mediaType(), stream::gone)) {
            stream.begin();
        }
        return stream;
    }

    /**
     * Responds with a body that is produced while it is sent. Must be called on the event loop.
     *
     * @param stallTimeout after this to twice this time without progress of the client, the response is aborted
     * @param source not used for HEAD requests
     */
    public void download(CharSequence mediaType, Duration stallTimeout, Download.Source source) {
        Download download = new Download(this, request.response(), stallTimeout, source);
        if (beginChunks(mediaType, download::gone)) {
            download.begin();
        }
    }

    /** Begins a response of unknown length; returns false if no body follows. */
    private boolean beginChunks(CharSequence mediaType, Runnable onGone) {
        HttpServerResponse response = request.response();
        isStream = true;
        if (!begin(200, mediaType, 0)) {
            onGone.run();
            return false;
        }
        // Without it nginx buffers responses that it proxies.
        response.putHeader("x-accel-buffering", "no");
        if (request.method() == HttpMethod.HEAD) {
            response.end();
            release(0);
            onGone.run();
            return false;
        }
        response.setChunked(true);
        response.closeHandler(closed -> {
            release(0);
            onGone.run();
        });
        return true;
    }

    /**
     * Reads the whole body. If it exceeds a bound of the listener, responds with a problem instead.
     *
     * @param then called on the event loop with the body's bytes
     */
    public void readBody(Consumer<byte[]> then) {
        RequestBody reading = new RequestBody(this, loop, request);
        requestBody = reading;
        reading.read(then);
    }

    /** The time of the request's head, by {@link System#nanoTime}. */
    long startedNanos() {
        return startedNanos;
    }

    /** Responds 503 because the endpoint has not responded in time. */
    void answerTooSlow() {
        if (isOver()) {
            // The client has disconnected.
            return;
        }
        String timeout = loop.options().limits().answerTimeout().toMillis() + " ms";
        log.error(
                "{} {} had no answer after {}; it is answered 503",
                LogText.escape(request.method().name()),
                LogText.escape(request.path()),
                timeout);
        loop.deadlines().countExceeded(Limit.ANSWER_TOO_SLOW);
        Runnable callback = onGone;
        onGone = null;
        guarded(() -> header("Retry-After", "1")
                .problem(Problem.of(ProblemType.ANSWER_TOO_SLOW, "There was no answer after " + timeout + ".")));
        if (callback != null) {
            guarded(callback);
        }
    }

    /** Stops reading the body until {@link #resumeBody}. */
    void pauseBody() {
        request.pause();
    }

    void resumeBody() {
        if (!request.isEnded()) {
            request.resume();
        }
    }

    /** Responds with JSON. */
    public void json(int status, JsonBody body) {
        answer(status, APPLICATION_JSON, JsonBuffer.of(body));
    }

    /** Responds with JSON that takes long to produce; a worker thread produces one response at a time. */
    public void jsonFromWorker(int status, JsonBody body) {
        answerFromWorker(status, APPLICATION_JSON, () -> JsonBody.bytes(body));
    }

    /**
     * Responds with encoded JSON, which is copied.
     *
     * @param body begins with the JSON; the caller may reuse it
     * @param length length of the JSON in bytes, without the line break that this appends
     */
    public void json(int status, byte[] body, int length) {
        Buffer answer = Buffer.buffer(length + 1).appendBytes(body, 0, length).appendByte((byte) '\n');
        answer(status, APPLICATION_JSON, answer);
    }

    /** Responds with a problem. All errors become HTTP responses here. */
    public void problem(Problem problem) {
        answer(problem.type().status(), PROBLEM_JSON, JsonBuffer.of(problem::writeTo));
    }

    /** Responds with bytes of any media type. */
    public void answer(int status, CharSequence mediaType, byte[] body) {
        answer(status, mediaType, Buffer.buffer(body));
    }

    /**
     * Responds with bytes of any media type.
     *
     * @param mediaType preferably a constant {@link AsciiString}
     * @param body must not be used after the call
     */
    public void answer(int status, CharSequence mediaType, Buffer body) {
        int length = body.length();
        if (!begin(status, mediaType, length)) {
            return;
        }
        HttpServerResponse response = request.response();
        response.headers()
                .set(
                        HttpHeaders.CONTENT_LENGTH,
                        length < SMALL_LENGTHS.length ? SMALL_LENGTHS[length] : Integer.toString(length));
        Future<Void> written = response.end(body);
        release(length);
        RequestBody read = requestBody;
        if (read != null && read.isUnread()) {
            read.discard(written);
        }
    }

    /**
     * Responds with bytes that change only with the program's version. Clients may cache them but must revalidate (RFC
     * 9111, 5.2.2.4); the response is 304 if they have not changed.
     *
     * @param etag identifies the bytes; with quotation marks (RFC 9110, 8.8.3)
     */
    public void answerKept(CharSequence mediaType, byte[] body, String etag) {
        cacheControl = NO_CACHE;
        header(HttpHeaders.ETAG, etag);
        if (!EntityTag.matches(request.headers().getAll(HttpHeaders.IF_NONE_MATCH), etag)) {
            answer(200, mediaType, body);
        } else if (begin(304, mediaType, 0)) {
            request.response().end();
            release(0);
        }
    }

    /** Responds with bytes that a worker thread produces. */
    void answerFromWorker(int status, CharSequence mediaType, Callable<byte[]> body) {
        loop.vertx()
                .executeBlocking(body, false)
                .onSuccess(bytes -> answer(status, mediaType, bytes))
                .onFailure(this::bug);
    }

    /** Runs a part of a download on a worker thread, then its result or the failure handler on the event loop. */
    void fromWorker(Callable<Runnable> work, Consumer<Throwable> failed) {
        loop.downloads()
                .executeBlocking(work, false)
                .onSuccess(this::guarded)
                .onFailure(cause -> guarded(() -> failed.accept(cause)));
    }

    /**
     * Sets a header of the response; must be called before the response.
     *
     * @throws IllegalArgumentException if the value contains a line break or another control character
     */
    public Exchange header(CharSequence name, CharSequence value) {
        request.response().putHeader(name, value);
        return this;
    }

    /** Runs a task with the trace id in the log context. If the task throws, responds 500 and logs the error. */
    void guarded(Runnable part) {
        if (trace == null) {
            caught(part);
            return;
        }
        MDC.put(TraceContext.LOG_KEY, trace.traceId());
        try {
            caught(part);
        } finally {
            MDC.remove(TraceContext.LOG_KEY);
        }
    }

    private void caught(Runnable part) {
        try {
            part.run();
        } catch (Throwable e) {
            // Errors too: the event loop must serve other requests, and the client must get a response.
            bug(e);
        }
    }

    private void bug(Throwable bug) {
        String instance = "urn:uuid:" + UUID.randomUUID();
        try {
            log.error(
                    "{} {} failed; the response names it {}",
                    LogText.escape(request.method().name()),
                    LogText.escape(request.path()),
                    instance,
                    bug);
            Problem internal = Problem.of(ProblemType.INTERNAL, "The server's log tells more under this instance.");
            problem(new Problem(internal.type(), internal.detail(), instance, internal.extensions()));
        } finally {
            if (!isStream && !request.response().ended()) {
                // It failed within the response or a second time; closing the connection tells the client.
                abort();
            }
        }
    }

    /** Aborts the response: closes the connection, or on HTTP/2 the request's stream. */
    void abort() {
        if (isHttp2()) {
            request.response().reset();
        } else {
            RawConnection.close(request.connection());
        }
    }

    /** Sets status and common headers; returns false if no response is possible any more. */
    private boolean begin(int status, CharSequence mediaType, int length) {
        assert Context.isOnEventLoopThread() : "not called on the event loop; use Exchange.later";
        loop.deadlines().removeUnanswered(this);
        if (isOver()) {
            return false;
        }
        answered = true;
        HttpServerResponse response = request.response();
        MultiMap headers = response.headers();
        headers.set(HttpHeaders.CONTENT_TYPE, mediaType);
        headers.set(HttpHeaders.CACHE_CONTROL, cacheControl);
        headers.set(CONTENT_TYPE_OPTIONS, NO_SNIFF);
        if (trace != null) {
            headers.set(TRACEPARENT, trace.traceparent());
        }
        Route.DynamicHeader header = route.route().header();
        String value = header == null ? null : header.value().get();
        if (header != null && value != null) {
            headers.set(header.name(), value);
        }
        if (requestBody != null && requestBody.isUnread() && !isHttp2()) {
            headers.set(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        }
        response.setStatusCode(status);
        long nanos = System.nanoTime() - startedNanos;
        route.record(status, nanos);
        RequestLog.answered(request, loop.options().name(), bearer, trace, status, length, nanos);
        return true;
    }

    boolean isHttp2() {
        return request.version() == HttpVersion.HTTP_2;
    }

    /** Called when a stream has written its last bytes; aborts if the client does not read them in time. */
    void ended(Future<Void> written) {
        release(0);
        Runnable cancel = after(loop.options().limits().bodyTimeout(), () -> {
            loop.deadlines().countExceeded(Limit.ANSWER_UNREAD);
            abort();
        });
        written.onComplete(done -> {
            cancel.run();
            if (request.version() == HttpVersion.HTTP_1_0) {
                // Without a length, HTTP/1.0 marks the end of the body by closing the connection.
                request.connection().close();
            }
        });
    }
}
