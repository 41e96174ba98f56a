package dev.puri.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.netty.handler.codec.CodecException;
import io.netty.util.AsciiString;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
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
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One request and its answer. Answered exactly once; a second answer is ignored, because the first may
 * have been a time-out that raced with it.
 *
 * <p>All of it belongs to one event loop, on which the {@link Endpoint} is called. It may be answered
 * later and from elsewhere by {@link #later}.
 */
public final class Exchange {
    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    /** One line for each request, at debug. */
    private static final Logger REQUESTS = LoggerFactory.getLogger("dev.puri.http.requests");

    private static final String TRACE_ID = "traceId";
    private static final long NO_ERROR = 0;
    private static final JsonFactory JSON = JsonFactory.builder().build();

    // Constants, so that an answer makes no text but its own.
    private static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");
    private static final AsciiString CONTENT_LENGTH = AsciiString.cached("content-length");
    private static final AsciiString CACHE_CONTROL = AsciiString.cached("cache-control");
    private static final AsciiString NO_STORE = AsciiString.cached("no-store");
    private static final AsciiString NO_CACHE = AsciiString.cached("no-cache");
    private static final AsciiString ETAG = AsciiString.cached("etag");
    private static final AsciiString IF_NONE_MATCH = AsciiString.cached("if-none-match");
    private static final AsciiString CONTENT_TYPE_OPTIONS = AsciiString.cached("x-content-type-options");
    private static final AsciiString NO_SNIFF = AsciiString.cached("nosniff");
    private static final AsciiString CONNECTION = AsciiString.cached("connection");
    private static final AsciiString CLOSE = AsciiString.cached("close");
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
    private final Watch.Watched connection;
    private final HttpServerRequest request;
    private final Measured route;
    private final String parameter;
    private final @Nullable TraceContext trace;
    private final long startedNanos = System.nanoTime();
    private boolean bodyUnread;
    private long readingSince;
    private boolean answered;
    private boolean released;
    private boolean isStream;

    /** Neighbours among the unanswered exchanges of the loop; {@link Watch} keeps them. */
    @Nullable
    Exchange before;

    @Nullable
    Exchange after;

    private String bearer = "";
    private AsciiString cacheControl = NO_STORE;
    private @Nullable Runnable gone;

    Exchange(ListenerLoop loop, HttpServerRequest request, Measured route, String parameter) {
        this.loop = loop;
        this.request = request;
        this.route = route;
        this.parameter = parameter;
        trace = TraceContext.parse(request.headers().get(TRACEPARENT));
        connection = loop.watch().of(request.connection());
        connection.began();
        loop.watch().began(this);
        // On HTTP/2, this is the end of the request's stream; the connection may outlive it.
        request.response().closeHandler(closed -> closed());
    }

    /**
     * The path's parameter as it was sent: not empty, not percent-decoded. Bytes beyond ASCII, which a
     * URL should not have and {@code curl} sends all the same, are read as UTF-8.
     */
    public String parameter() {
        return parameter;
    }

    /** Identifies the connection of the request: equal for all its requests, different for other connections. */
    public Object connection() {
        return connection;
    }

    /** The first value of a query parameter, decoded; null when it is not given. */
    public @Nullable String query(String name) {
        // Where there is none, parsing would only make objects.
        return request.query() == null ? null : request.params().get(name);
    }

    /** All values of a query parameter, decoded, in their order; none when it is not given. */
    public List<String> queryAll(String name) {
        return request.query() == null ? List.of() : request.params().getAll(name);
    }

    /** A header of the request as it was sent, the first of that name; null when there is none. */
    public @Nullable String requestHeader(String name) {
        return request.getHeader(name);
    }

    List<String> requestHeaders(String name) {
        return request.headers().getAll(name);
    }

    /** Who asks, for the log. */
    void bearer(String name) {
        bearer = name;
    }

    /**
     * Goes on with the answering on the exchange's event loop, soon. May be called from any thread; it
     * is how work done elsewhere comes back to be answered. Does nothing once the listener has closed.
     *
     * @param part what it throws is answered as our bug, status 500
     */
    public void later(Runnable part) {
        try {
            loop.context().runOnContext(none -> guarded(part));
        } catch (RejectedExecutionException e) {
            log.debug("Nobody is there any more to be answered");
        }
    }

    /**
     * Goes on with the answering after a while, unless that is cancelled. To be called on the event loop.
     *
     * @return cancels it, on the event loop
     */
    public Runnable after(Duration delay, Runnable part) {
        assert Context.isOnEventLoopThread() : "a timer would belong to no exchange";
        long timer = loop.vertx().setTimer(Math.max(1, delay.toMillis()), id -> guarded(part));
        return () -> loop.vertx().cancelTimer(timer);
    }

    /**
     * Calls back on the event loop when the client goes before it has been answered. A client of HTTP/1.1
     * that has sent another request meanwhile is not seen to go, for its connection is not read on: so
     * every wait must have an end of its own. To be called on the event loop, once.
     */
    public void onGone(Runnable callback) {
        gone = callback;
    }

    /** The client has gone, maybe in the middle of its body: nothing answers any more, so the watch must forget it. */
    private void closed() {
        Runnable callback = gone;
        gone = null;
        boolean left = !answered;
        answered = true;
        loop.watch().answered(this);
        release(0);
        if (callback != null && left) {
            guarded(callback);
        }
    }

    /** The connection need not wait for this exchange any more. */
    private void release(long bytesToBeTaken) {
        if (!released) {
            released = true;
            connection.ended(bytesToBeTaken);
        }
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
        return stream(EventStream.Form.EVENTS, terms, onEnd);
    }

    /**
     * Answers with lines of JSON, each a value of its own; {@link ServerSentEvent#encoded} makes one of its
     * bytes, line break included. Otherwise like {@link #events}.
     */
    public EventStream lines(EventStream.Terms terms, Consumer<EventStream.End> onEnd) {
        return stream(EventStream.Form.LINES, terms, onEnd);
    }

    private EventStream stream(EventStream.Form form, EventStream.Terms terms, Consumer<EventStream.End> onEnd) {
        EventStream stream = new EventStream(this, request.response(), form, terms, onEnd);
        if (beginChunks(form.mediaType(), stream::gone)) {
            stream.begin();
        }
        return stream;
    }

    /**
     * Answers with what is made while it is sent. To be called on the event loop.
     *
     * @param patience how long the client may take nothing before it is cut off; it may be twice as long
     * @param source asked for nothing when only the head is to be answered
     */
    public void download(CharSequence mediaType, Duration patience, Download.Source source) {
        Download download = new Download(this, request.response(), patience, source);
        if (beginChunks(mediaType, download::gone)) {
            download.begin();
        }
    }

    /** Begins an answer of unknown length; false when nothing is to follow. */
    private boolean beginChunks(CharSequence mediaType, Runnable onGone) {
        HttpServerResponse response = request.response();
        isStream = true;
        if (!begin(200, mediaType, 0)) {
            onGone.run();
            return false;
        }
        // nginx keeps what it proxies until it has enough of it, unless told not to.
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
     * Reads the whole body within the listener's bounds, and answers a problem itself when one is
     * broken.
     *
     * @param then is called on the event loop with the body's bytes
     */
    public void readBody(Consumer<byte[]> then) {
        Body body = new Body();
        bodyUnread = true;
        if (announcesTooMuch()) {
            bodyTooLarge();
            return;
        }
        readingSince = System.nanoTime();
        loop.watch().reading(this);
        request.handler(chunk -> {
            if (body.length() + chunk.length() > loop.options().maxBodyBytes()) {
                loop.watch().read(this);
                bodyTooLarge();
            } else {
                body.add(chunk);
            }
        });
        request.exceptionHandler(this::bodyBroken);
        request.endHandler(end -> {
            loop.watch().read(this);
            bodyUnread = false;
            guarded(() -> then.accept(body.bytes()));
        });
    }

    /** The rest of the body will not come: its framing is broken, or the client has gone. */
    private void bodyBroken(Throwable cause) {
        loop.watch().read(this);
        boolean isFraming = cause instanceof IllegalArgumentException || cause instanceof CodecException;
        if (isFraming && !isHttp2()) {
            // Where the next request begins is not known. Vert.x closes after this, whatever is still to be flushed.
            bodyUnread = false;
            header(CONNECTION, CLOSE);
            problem(brokenFraming(cause, "The body's chunks cannot be read."));
            RawConnection.flush(request.connection());
        }
    }

    /**
     * What is wrong with a message that cannot be read to its end.
     *
     * @param otherwise a sentence for a rule that is not ours
     */
    static Problem brokenFraming(Throwable cause, String otherwise) {
        return Problem.of(
                ProblemType.BAD_REQUEST,
                cause instanceof StrictRequestDecoder.FramingException rule
                        ? String.valueOf(rule.getMessage())
                        : otherwise);
    }

    /** A body as it comes in; most come in one piece, which then is copied once. */
    private static final class Body {
        private @Nullable Buffer all;
        private boolean isOurs;

        int length() {
            return all == null ? 0 : all.length();
        }

        void add(Buffer chunk) {
            if (all == null) {
                all = chunk;
                return;
            }
            if (!isOurs) {
                all = Buffer.buffer(2 * (all.length() + chunk.length())).appendBuffer(all);
                isOurs = true;
            }
            all.appendBuffer(chunk);
        }

        byte[] bytes() {
            return all == null ? new byte[0] : all.getBytes();
        }
    }

    /** When it began, on the clock of {@link System#nanoTime}. */
    long startedNanos() {
        return startedNanos;
    }

    /** Answers for an endpoint that has not; what it may answer later is ignored. */
    void answerTooSlow() {
        if (isOver()) {
            // The client has gone; nobody waits for the endpoint.
            return;
        }
        String timeout = loop.options().limits().answerTimeout().toMillis() + " ms";
        log.error(
                "{} {} had no answer after {}; it is answered 503",
                LogText.of(request.method().name()),
                LogText.of(request.path()),
                timeout);
        loop.watch().count(Limit.ANSWER_TOO_SLOW);
        Runnable callback = gone;
        gone = null;
        guarded(() -> header("Retry-After", "1")
                .problem(Problem.of(ProblemType.ANSWER_TOO_SLOW, "There was no answer after " + timeout + ".")));
        if (callback != null) {
            guarded(callback);
        }
    }

    /** When it began to read its body, on the clock of {@link System#nanoTime}. */
    long readingSince() {
        return readingSince;
    }

    /** Leaves the body where it is, until something else has been found out. */
    void pauseBody() {
        request.pause();
    }

    void resumeBody() {
        if (!request.isEnded()) {
            request.resume();
        }
    }

    void bodyTooSlow() {
        loop.watch().count(Limit.BODY_TOO_SLOW);
        problem(Problem.of(
                ProblemType.BODY_TOO_SLOW,
                "The body was not there whole after "
                        + loop.options().limits().bodyTimeout().toMillis() + " ms."));
    }

    private void bodyTooLarge() {
        int most = loop.options().maxBodyBytes();
        loop.watch().count(Limit.BODY_TOO_LARGE);
        problem(Problem.of(ProblemType.BODY_TOO_LARGE, "At most " + most + " bytes are taken.")
                .with("maxBytes", most));
    }

    private boolean announcesTooMuch() {
        String announced = request.getHeader(CONTENT_LENGTH);
        try {
            return announced != null
                    && Long.parseLong(announced) > loop.options().maxBodyBytes();
        } catch (NumberFormatException e) {
            return true;
        }
    }

    /** Answers JSON. */
    public void json(int status, JsonBody body) {
        answer(status, APPLICATION_JSON, json(body));
    }

    /** Answers JSON that takes long to make: it is made on a thread that may block, one answer after the other. */
    public void jsonFromWorker(int status, JsonBody body) {
        answerFromWorker(status, APPLICATION_JSON, () -> JsonBody.bytes(body));
    }

    /**
     * Answers JSON that is written already, and copied once from here.
     *
     * @param body has it from its beginning, and may be used again at once
     * @param length of it in bytes, without the line break that every answer ends in
     */
    public void json(int status, byte[] body, int length) {
        Buffer answer = Buffer.buffer(length + 1).appendBytes(body, 0, length).appendByte((byte) '\n');
        answer(status, APPLICATION_JSON, answer);
    }

    /** Answers a problem; the one place where an error becomes HTTP. */
    public void problem(Problem problem) {
        answer(problem.type().status(), PROBLEM_JSON, json(problem::writeTo));
    }

    /** Answers with bytes of any kind. */
    public void answer(int status, CharSequence mediaType, byte[] body) {
        answer(status, mediaType, Buffer.buffer(body));
    }

    /**
     * Answers with bytes of any kind.
     *
     * @param mediaType best an {@link AsciiString} that is made once
     * @param body is the listener's from here on
     */
    public void answer(int status, CharSequence mediaType, Buffer body) {
        int length = body.length();
        if (!begin(status, mediaType, length)) {
            return;
        }
        HttpServerResponse response = request.response();
        response.headers()
                .set(CONTENT_LENGTH, length < SMALL_LENGTHS.length ? SMALL_LENGTHS[length] : Integer.toString(length));
        Future<Void> taken = response.end(body);
        release(length);
        if (bodyUnread) {
            refuseTheRest(taken);
        }
    }

    /**
     * Answers with bytes that change with the program alone. Clients may keep them, and ask each time whether
     * they are still the same (RFC 9111, 5.2.2.4): 304 then.
     *
     * @param etag tells them from any before or after them; quotation marks included (RFC 9110, 8.8.3)
     */
    public void answerKept(CharSequence mediaType, byte[] body, String etag) {
        cacheControl = NO_CACHE;
        header(ETAG, etag);
        if (!has(etag)) {
            answer(200, mediaType, body);
        } else if (begin(304, mediaType, 0)) {
            request.response().end();
            release(0);
        }
    }

    private boolean has(String etag) {
        for (String line : request.headers().getAll(IF_NONE_MATCH)) {
            for (String each : line.split(",", -1)) {
                String tag = each.strip();
                if (tag.equals("*") || tag.equals(etag) || tag.equals("W/" + etag)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Answers with bytes that take long to make: they are made on a thread that may block. */
    void answerFromWorker(int status, CharSequence mediaType, Callable<byte[]> body) {
        loop.vertx()
                .executeBlocking(body, false)
                .onSuccess(bytes -> answer(status, mediaType, bytes))
                .onFailure(this::bug);
    }

    /** Makes a part of a download on a thread that may block, and goes on with what it returns, or its failure, on the event loop. */
    void fromWorker(Callable<Runnable> work, Consumer<Throwable> failed) {
        loop.downloads()
                .executeBlocking(work, false)
                .onSuccess(this::guarded)
                .onFailure(cause -> guarded(() -> failed.accept(cause)));
    }

    /**
     * Sets a header of the answer, before it is given.
     *
     * @throws IllegalArgumentException when the value holds a line break or another control character
     */
    public Exchange header(CharSequence name, CharSequence value) {
        request.response().putHeader(name, value);
        return this;
    }

    /** Runs a part of the answering; what it throws is our bug, and loud. What it logs bears the trace's id. */
    void guarded(Runnable part) {
        if (trace == null) {
            caught(part);
            return;
        }
        MDC.put(TRACE_ID, trace.traceId());
        try {
            caught(part);
        } finally {
            MDC.remove(TRACE_ID);
        }
    }

    private void caught(Runnable part) {
        try {
            part.run();
        } catch (Throwable e) {
            // An Error, too, is this exchange's: the loop goes on for others, and the client gets an answer.
            bug(e);
        }
    }

    private void bug(Throwable bug) {
        String instance = "urn:uuid:" + UUID.randomUUID();
        try {
            log.error(
                    "{} {} failed, told to the caller as {}",
                    LogText.of(request.method().name()),
                    LogText.of(request.path()),
                    instance,
                    bug);
            Problem internal = Problem.of(ProblemType.INTERNAL, "The server's log tells more under this instance.");
            problem(new Problem(internal.type(), internal.detail(), instance, internal.extensions()));
        } finally {
            if (!isStream && !request.response().ended()) {
                // It failed within its answer, or a second time: a connection that ends is an answer too.
                abort();
            }
        }
    }

    /** Ends the connection, of HTTP/2 the request's stream, in the midst of the answer. */
    void abort() {
        if (isHttp2()) {
            request.response().reset();
        } else {
            RawConnection.close(request.connection());
        }
    }

    /** Begins the answer with what every one has; false when there is nobody or nothing to answer any more. */
    private boolean begin(int status, CharSequence mediaType, int length) {
        assert Context.isOnEventLoopThread() : "answered from another thread; Exchange.later is the way back";
        loop.watch().answered(this);
        if (isOver()) {
            return false;
        }
        answered = true;
        HttpServerResponse response = request.response();
        MultiMap headers = response.headers();
        headers.set(CONTENT_TYPE, mediaType);
        headers.set(CACHE_CONTROL, cacheControl);
        headers.set(CONTENT_TYPE_OPTIONS, NO_SNIFF);
        if (trace != null) {
            headers.set(TRACEPARENT, trace.traceparent());
        }
        Route.Mark mark = route.route().mark();
        String marked = mark == null ? null : mark.value().get();
        if (mark != null && marked != null) {
            headers.set(mark.header(), marked);
        }
        if (bodyUnread && !isHttp2()) {
            headers.set(CONNECTION, CLOSE);
        }
        response.setStatusCode(status);
        long nanos = System.nanoTime() - startedNanos;
        route.record(status, nanos);
        if (REQUESTS.isDebugEnabled()) {
            logRequest(status, nanos, length);
        }
        return true;
    }

    private void logRequest(int status, long nanos, int length) {
        LoggingEventBuilder line = REQUESTS.atDebug()
                .addKeyValue("listener", loop.options().name())
                .addKeyValue("method", LogText.of(request.method().name()))
                .addKeyValue("path", LogText.of(request.path()))
                .addKeyValue("status", status)
                .addKeyValue("bytes", length)
                .addKeyValue("micros", nanos / 1000)
                .addKeyValue("protocol", request.version());
        if (!bearer.isEmpty()) {
            line = line.addKeyValue("bearer", LogText.of(bearer));
        }
        if (trace != null) {
            line = line.addKeyValue(TRACE_ID, trace.traceId());
        }
        line.log("Answered");
    }

    private boolean isHttp2() {
        return request.version() == HttpVersion.HTTP_2;
    }

    /**
     * Gets rid of a body that nobody wants. On HTTP/1.1 it is read on, within bounds, before the
     * connection is closed: closing at once would reset it under a client that is still sending, and the
     * answer would be lost with it. On HTTP/2 the client is told to stop sending (RFC 9113, 8.1), and the
     * connection's other streams are left alone.
     */
    private void refuseTheRest(Future<Void> taken) {
        request.handler(chunk -> {});
        if (isHttp2()) {
            taken.onSuccess(written -> request.response().reset(NO_ERROR));
            return;
        }
        Runnable cancel = after(
                loop.options().limits().bodyTimeout(),
                () -> request.connection().close());
        request.endHandler(end -> {
            cancel.run();
            request.connection().close();
        });
    }

    /** The stream has written its last event; cuts the client off if it does not take it. */
    void ended(Future<Void> taken) {
        release(0);
        Runnable cancel = after(loop.options().limits().bodyTimeout(), () -> {
            loop.watch().count(Limit.ANSWER_UNREAD);
            abort();
        });
        taken.onComplete(written -> {
            cancel.run();
            if (request.version() == HttpVersion.HTTP_1_0) {
                // Its only sign of an end, where nothing announced the length.
                request.connection().close();
            }
        });
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
