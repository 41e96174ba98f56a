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
 * A request and its response. Only the first response is sent: a timeout may respond before the endpoint does.
 *
 * <p>Confined to one event loop, which also calls the {@link Endpoint}. Other threads respond through {@link
 * #runOnEventLoop}.
 */
public final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    // Constants, so that a response allocates no header texts.
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
    private final long startedAtNanos = System.nanoTime();
    private @Nullable RequestBody requestBody;

    /** Whether a response has begun, or the client has disconnected. */
    private boolean isResponseClosed;

    private boolean isEndReported;
    private boolean isStream;

    /** Links of the list of exchanges without a response, which {@link ConnectionDeadlines} maintains. */
    @Nullable
    Exchange previous;

    @Nullable
    Exchange next;

    private String callerName = "";
    private AsciiString cacheControl = NO_STORE;
    private @Nullable Runnable onCancel;

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
        request.response().closeHandler(closed -> onDisconnect());
    }

    /**
     * Returns the path's parameter as the client sent it: not empty, not percent-decoded. Bytes beyond ASCII are
     * decoded as UTF-8; they are invalid in a URL, but {@code curl} sends them.
     */
    public String parameter() {
        return parameter;
    }

    /** Returns an object that identifies the connection. It is equal for all requests of the connection. */
    public Object connection() {
        return connection;
    }

    /** Returns the first value of a query parameter, decoded, or null if it is absent. */
    public @Nullable String query(String name) {
        // Without a query, params() would only allocate.
        return request.query() == null ? null : request.params().get(name);
    }

    /** Returns all values of a query parameter, decoded, in the order of the query; empty if it is absent. */
    public List<String> queryAll(String name) {
        return request.query() == null ? List.of() : request.params().getAll(name);
    }

    /** Returns the first header with this name, as the client sent it, or null if there is none. */
    public @Nullable String requestHeader(String name) {
        return request.getHeader(name);
    }

    List<String> requestHeaders(String name) {
        return request.headers().getAll(name);
    }

    /** Sets the name of the caller, for the log. */
    void setCaller(String name) {
        callerName = name;
    }

    /**
     * Runs a task on the exchange's event loop. Any thread may call this method, to respond with the result of its
     * work. Does nothing after the listener has closed.
     *
     * @param task if it throws, the response has status 500
     */
    public void runOnEventLoop(Runnable task) {
        try {
            loop.context().runOnContext(none -> runGuarded(task));
        } catch (RejectedExecutionException e) {
            log.debug("The listener has closed; a response is discarded");
        }
    }

    /**
     * Runs a task on the event loop after a delay. Must be called on the event loop.
     *
     * @return cancels the task; must be called on the event loop
     */
    public Runnable after(Duration delay, Runnable task) {
        assert Context.isOnEventLoopThread() : "not called on the event loop";
        long timer = loop.vertx().setTimer(Math.max(1, delay.toMillis()), id -> runGuarded(task));
        return () -> loop.vertx().cancelTimer(timer);
    }

    /**
     * Sets a callback that runs on the event loop if the client disconnects, or the answer timeout responds 503, before
     * the endpoint responds. On HTTP/1.1 a disconnection is not detected if the client has already sent another
     * request, because the connection is not read meanwhile. So every wait also needs a timeout. If the client has
     * already disconnected, runs the callback at once. Must be called on the event loop, at most once.
     */
    public void onCancel(Runnable callback) {
        if (isOver()) {
            runGuarded(callback);
        } else {
            onCancel = callback;
        }
    }

    /** Called when the client has disconnected, possibly while it sends the body. */
    private void onDisconnect() {
        Runnable callback = onCancel;
        onCancel = null;
        boolean wasUnanswered = !isResponseClosed;
        isResponseClosed = true;
        loop.deadlines().removeUnanswered(this);
        endRequest(0);
        if (callback != null && wasUnanswered) {
            runGuarded(callback);
        }
    }

    /** Reports the request's end to the connection's deadlines, with the number of bytes not yet read by the client. */
    private void endRequest(long unreadBytes) {
        if (!isEndReported) {
            isEndReported = true;
            connection.requestEnded(unreadBytes);
        }
    }

    /** Returns whether a response is no longer possible: there was a response, or the client has disconnected. */
    public boolean isOver() {
        return isResponseClosed || request.response().closed();
    }

    /**
     * Responds with a stream of events. Must be called on the event loop.
     *
     * @param onEnd called once, on the event loop, when either side has ended the stream
     */
    public EventStream events(EventStream.Options options, Consumer<EventStream.End> onEnd) {
        return startStream(EventStream.Format.EVENTS, options, onEnd);
    }

    /**
     * Like {@link #events}, but responds with a stream of JSON lines. The caller encodes each line with its line
     * break, and sends the bytes through {@link ServerSentEvent#encoded}.
     */
    public EventStream lines(EventStream.Options options, Consumer<EventStream.End> onEnd) {
        return startStream(EventStream.Format.LINES, options, onEnd);
    }

    private EventStream startStream(
            EventStream.Format format, EventStream.Options options, Consumer<EventStream.End> onEnd) {
        EventStream stream = new EventStream(this, request.response(), format, options, onEnd);
        if (startChunked(format.mediaType(), stream::onDisconnect)) {
            stream.start();
        }
        return stream;
    }

    /**
     * Responds with a body that is produced while it is sent. Must be called on the event loop.
     *
     * @param stallTimeout if the client reads nothing for this time, the response is aborted after at most twice this
     *     time
     * @param source produces the body; not used for HEAD requests
     */
    public void download(CharSequence mediaType, Duration stallTimeout, Download.Source source) {
        Download download = new Download(this, request.response(), stallTimeout, source);
        if (startChunked(mediaType, download::onDisconnect)) {
            download.start();
        }
    }

    /** Starts a response of unknown length. Returns false if no body follows. */
    private boolean startChunked(CharSequence mediaType, Runnable onDisconnect) {
        HttpServerResponse response = request.response();
        isStream = true;
        if (!startResponse(200, mediaType, 0)) {
            onDisconnect.run();
            return false;
        }
        // Without this header, nginx buffers the responses that it proxies.
        response.putHeader("x-accel-buffering", "no");
        if (request.method() == HttpMethod.HEAD) {
            response.end();
            endRequest(0);
            onDisconnect.run();
            return false;
        }
        response.setChunked(true);
        response.closeHandler(closed -> {
            endRequest(0);
            onDisconnect.run();
        });
        return true;
    }

    /**
     * Reads the whole body. If the body exceeds a limit of the listener, responds with a problem instead.
     *
     * @param onBody called on the event loop with the body's bytes
     */
    public void readBody(Consumer<byte[]> onBody) {
        RequestBody body = new RequestBody(this, loop, request);
        requestBody = body;
        body.read(onBody);
    }

    /** Returns the time at which the request's headers were complete, by {@link System#nanoTime}. */
    long startedAtNanos() {
        return startedAtNanos;
    }

    /** Responds 503, because the endpoint has not responded in time. */
    void respondAnswerTooSlow() {
        if (isOver()) {
            // The client has disconnected.
            return;
        }
        String timeout = loop.options().limits().answerTimeout().toMillis() + " ms";
        log.error(
                "{} {} had no response after {}; the server responds 503",
                LogText.escape(request.method().name()),
                LogText.escape(request.path()),
                timeout);
        loop.countExceeded(Limit.ANSWER_TOO_SLOW);
        Runnable callback = onCancel;
        onCancel = null;
        runGuarded(() -> header("Retry-After", "1")
                .problem(Problem.of(ProblemType.ANSWER_TOO_SLOW, "There was no response after " + timeout + ".")));
        if (callback != null) {
            runGuarded(callback);
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

    /** Responds with JSON that takes long to produce. A worker thread does it, so the event loop is not blocked. */
    public void jsonFromWorker(int status, JsonBody body) {
        answerFromWorker(status, APPLICATION_JSON, () -> JsonBody.bytes(body));
    }

    /**
     * Responds with encoded JSON and a line break. Copies the JSON, so the caller may reuse the array.
     *
     * @param body starts with the JSON
     * @param length the length of the JSON in bytes
     */
    public void json(int status, byte[] body, int length) {
        Buffer copy = Buffer.buffer(length + 1).appendBytes(body, 0, length).appendByte((byte) '\n');
        answer(status, APPLICATION_JSON, copy);
    }

    /** Responds with a problem. All error responses are written here. */
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
        if (!startResponse(status, mediaType, length)) {
            return;
        }
        HttpServerResponse response = request.response();
        response.headers()
                .set(
                        HttpHeaders.CONTENT_LENGTH,
                        length < SMALL_LENGTHS.length ? SMALL_LENGTHS[length] : Integer.toString(length));
        Future<Void> written = response.end(body);
        endRequest(length);
        RequestBody unfinishedBody = requestBody;
        if (unfinishedBody != null && unfinishedBody.isIncomplete()) {
            unfinishedBody.discard(written);
        }
    }

    /**
     * Responds with bytes that change only with the program's version. Clients may cache the bytes but must revalidate
     * them (RFC 9111, 5.2.2.4). If the client has the same bytes, the response is 304.
     *
     * @param etag the entity tag of the bytes, with quotation marks (RFC 9110, 8.8.3)
     */
    public void answerWithEtag(CharSequence mediaType, byte[] body, String etag) {
        cacheControl = NO_CACHE;
        header(HttpHeaders.ETAG, etag);
        if (!EntityTag.matches(request.headers().getAll(HttpHeaders.IF_NONE_MATCH), etag)) {
            answer(200, mediaType, body);
        } else if (startResponse(304, mediaType, 0)) {
            request.response().end();
            endRequest(0);
        }
    }

    /** Responds with bytes that a worker thread produces. */
    void answerFromWorker(int status, CharSequence mediaType, Callable<byte[]> body) {
        loop.vertx()
                .executeBlocking(body, false)
                .onSuccess(bytes -> answer(status, mediaType, bytes))
                .onFailure(this::respondInternalError);
    }

    /** Runs work of a download on a worker thread, then runs its result, or the failure handler, on the event loop. */
    void runOnDownloadThread(Callable<Runnable> work, Consumer<Throwable> onFailure) {
        loop.downloads()
                .executeBlocking(work, false)
                .onSuccess(this::runGuarded)
                .onFailure(cause -> runGuarded(() -> onFailure.accept(cause)));
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
    void runGuarded(Runnable task) {
        if (trace == null) {
            runAndCatch(task);
            return;
        }
        MDC.put(TraceContext.LOG_KEY, trace.traceId());
        try {
            runAndCatch(task);
        } finally {
            MDC.remove(TraceContext.LOG_KEY);
        }
    }

    private void runAndCatch(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            // Errors too: the event loop must serve other requests, and the client must get a response.
            respondInternalError(e);
        }
    }

    private void respondInternalError(Throwable cause) {
        String instance = "urn:uuid:" + UUID.randomUUID();
        try {
            log.error(
                    "{} {} failed; the response has the instance {}",
                    LogText.escape(request.method().name()),
                    LogText.escape(request.path()),
                    instance,
                    cause);
            Problem internal =
                    Problem.of(ProblemType.INTERNAL, "The server's log has the cause under the value of instance.");
            problem(new Problem(internal.type(), internal.detail(), instance, internal.extensions()));
        } finally {
            if (!isStream && !request.response().ended()) {
                // The response had begun, or the problem could not be written either. The closed connection shows the
                // client that the response is incomplete.
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

    /** Sets the status and the common headers. Returns false if no response is possible any more. */
    private boolean startResponse(int status, CharSequence mediaType, int length) {
        assert Context.isOnEventLoopThread() : "not called on the event loop; use Exchange.runOnEventLoop";
        loop.deadlines().removeUnanswered(this);
        if (isOver()) {
            return false;
        }
        isResponseClosed = true;
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
        if (requestBody != null && requestBody.isIncomplete() && !isHttp2()) {
            headers.set(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        }
        response.setStatusCode(status);
        long durationNanos = System.nanoTime() - startedAtNanos;
        route.record(status, durationNanos);
        RequestLog.log(request, loop.options().name(), callerName, trace, status, length, durationNanos);
        return true;
    }

    boolean isHttp2() {
        return request.version() == HttpVersion.HTTP_2;
    }

    /** Called when a stream has written its last bytes. Aborts the response if the client reads them too slowly. */
    void onStreamWritten(Future<Void> written) {
        endRequest(0);
        Runnable cancel = after(loop.options().limits().bodyTimeout(), () -> {
            loop.countExceeded(Limit.ANSWER_UNREAD);
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
