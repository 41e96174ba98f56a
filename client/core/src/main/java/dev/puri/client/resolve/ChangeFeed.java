package dev.puri.client.resolve;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.client.resolve.Addresses.Address;
import dev.puri.client.resolve.CacheStatistics.Feed;
import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the feed of changes, {@code GET /v1/changes}, and invalidates the changed rows in the cache.
 *
 * <pre>
 *               first id of a new feed: clear the cache
 *   CONNECTING ─────────────────────────────────────────▶ CURRENT
 *    ▲  ▲   │                                              ▲  │
 *    │  │   └─ first id of a continued feed ─▶ CATCHING_UP ┘  │  id with a later time
 *    │  │                                           │         │
 *    │  └───── end, error, timeout ─────────────────┘         │
 *    └──────── end, error, timeout ───────────────────────────┘
 * </pre>
 *
 * A {@code reset} event in any state starts a new feed. The cache is used only in the state CURRENT.
 *
 * <p>The id of an event is a position in the registry's log, and positions are the same on every resolver. So a new
 * connection to any address continues the feed after the last id. An id also has a time, in seconds since 1970: all
 * changes that were written to the log before that time have an earlier or the same id. So after a reconnection, the
 * first id with a later time proves that the cache has received every change from before the reconnection. The time in
 * the ids stops while a resolver lags or is disconnected from Kafka. So the timeout of the feed is measured from the
 * last id with a later time, and not from the last event.
 *
 * <p>This object's monitor guards all transitions. Events of an earlier session are ignored.
 */
final class ChangeFeed implements AutoCloseable {
    static final Duration MIN_RETRY_DELAY = Duration.ofSeconds(1);
    private static final Duration MAX_RETRY_DELAY = Duration.ofSeconds(30);

    /**
     * If the time in the ids jumps by more than this number of seconds, compaction may have removed intermediate
     * changes of a row, so cached answers that depend on several rows are dropped.
     */
    private static final long COMPACTION_GAP_SECONDS = 60;

    /** Length of the part of an id that identifies the topic. */
    private static final int TOPIC_ID_BYTES = 4;

    private static final int MAX_PROBLEM_BYTES = 64 << 10;
    private static final int MAX_FAILURE_CHARS = 300;

    private final HttpClient http;
    private final ResolverOptions options;
    private final Addresses addresses;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoClock;
    private final RowCache cache;
    private final Duration minRetryDelay;
    private final LongAdder connections = new LongAdder();

    // Guarded by this.
    private Feed state = Feed.CONNECTING;
    private @Nullable Session session;
    private Duration retryDelay;
    private @Nullable String lastFailure;

    /** The cache has all changes up to this id. Sent as Last-Event-ID; null to start a new feed. */
    private @Nullable String lastId;

    /** The time in {@link #lastId}, in seconds since 1970. */
    private long lastEpochSeconds;

    /**
     * @param minRetryDelay time after which an ended feed connects again; the time doubles with each failed attempt
     */
    ChangeFeed(
            HttpClient http,
            ResolverOptions options,
            Addresses addresses,
            ScheduledExecutorService timer,
            LongSupplier nanoClock,
            RowCache cache,
            Duration minRetryDelay) {
        this.http = http;
        this.options = options;
        this.addresses = addresses;
        this.timer = timer;
        this.nanoClock = nanoClock;
        this.cache = cache;
        this.minRetryDelay = minRetryDelay;
        this.retryDelay = minRetryDelay;
    }

    synchronized CacheStatistics statistics() {
        return cache.statistics(connections.sum(), state, lastFailure);
    }

    synchronized void connect() {
        if (state == Feed.OFF) {
            return;
        }
        cache.forgetOldChanges();
        Address address = addresses.inOrder().get(0);
        Session newSession = new Session(address);
        session = newSession;
        connections.increment();
        try {
            newSession.follow(http.sendAsync(request(address), newSession::body));
        } catch (RuntimeException | Error e) {
            // If this method threw, the timer would not call it again and the feed would never reconnect.
            endSession(newSession, e.toString());
        }
    }

    private HttpRequest request(Address address) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(address.resolve("/v1/changes")).header("Accept", "text/event-stream");
        if (options.token() != null) {
            request.header("Authorization", "Bearer " + options.token());
        }
        if (lastId != null) {
            request.header("Last-Event-ID", lastId);
        }
        return request.build();
    }

    /** Ends a session, and schedules the next connection. */
    private synchronized void endSession(Session ended, String reason) {
        if (session != ended || state == Feed.OFF) {
            return;
        }
        session = null;
        lastFailure = reason.length() > MAX_FAILURE_CHARS ? reason.substring(0, MAX_FAILURE_CHARS) + "…" : reason;
        state = Feed.CONNECTING;
        cache.setEnabled(false);
        if (ended.isOpen) {
            retryDelay = minRetryDelay;
        }
        if (ended.needsNewFeed) {
            lastId = null;
        }
        if (!ended.isOpen || ended.isTimedOut) {
            ended.address.failed();
        }
        Duration requestedDelay = ended.events.retry();
        Duration delay =
                requestedDelay == null || requestedDelay.compareTo(retryDelay) < 0 ? retryDelay : requestedDelay;
        schedule(ResolverClient.shorter(delay, MAX_RETRY_DELAY), this::connect);
        retryDelay = ResolverClient.shorter(retryDelay.multipliedBy(2), MAX_RETRY_DELAY);
    }

    private void schedule(Duration delay, Runnable action) {
        try {
            var unused = timer.schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The client has been closed, so there is nothing to do.
        }
    }

    private synchronized void handle(Session source, ServerEvents.Event event) {
        if (session != source || state == Feed.OFF) {
            return;
        }
        // The cache is updated before the id is recorded, because the next session continues after that id.
        switch (event.type()) {
            case "changed" -> {
                JsonNode row = ResolverJson.parse(event.data());
                cache.changed(
                        Puri.parse(ResolverJson.required(row, "puri")),
                        ResolverJson.required(row, "status").equals("active"));
            }
            case "erased" ->
                cache.changed(Puri.parse(ResolverJson.required(ResolverJson.parse(event.data()), "puri")), false);
            case "reset" -> {
                lastId = null;
                state = Feed.CATCHING_UP;
                cache.setEnabled(false);
            }
            default -> {}
        }
        String id = event.id();
        if (id != null && !id.equals(lastId)) {
            advanceTo(source, id);
        } else if (id != null) {
            markOpen(source);
        }
    }

    /** Records that the cache has all changes up to an id. */
    private void advanceTo(Session source, String id) {
        long epochSeconds = epochSeconds(id);
        boolean isNewFeed = lastId == null;
        if (isNewFeed) {
            cache.clear();
        } else if (epochSeconds - lastEpochSeconds > COMPACTION_GAP_SECONDS) {
            cache.dropMergedAnswers();
        }
        cache.forgetOldChanges();
        markOpen(source);
        if (isNewFeed || epochSeconds > lastEpochSeconds) {
            state = Feed.CURRENT;
            cache.setEnabled(true);
            source.lastProgressAt = nanoClock.getAsLong();
        }
        lastId = id;
        lastEpochSeconds = epochSeconds;
    }

    /** Marks a session as open at its first id. */
    private void markOpen(Session source) {
        if (!source.isOpen) {
            source.isOpen = true;
            lastFailure = null;
            source.address.answered();
            state = Feed.CATCHING_UP;
            cache.dropMergedAnswers();
        }
    }

    /**
     * Returns the time in an id, in seconds since 1970. An id is encoded in base64url: four bytes that identify the
     * topic, then the time as a varint (7 bits per byte, lowest bits first), then bytes that are not read here.
     *
     * @throws IllegalArgumentException if the id is malformed
     */
    static long epochSeconds(String id) {
        byte[] bytes = Base64.getUrlDecoder().decode(id);
        long epochSeconds = 0;
        for (int i = TOPIC_ID_BYTES; i < bytes.length && i < TOPIC_ID_BYTES + 9; i++) {
            epochSeconds |= (long) (bytes[i] & 0x7f) << (7 * (i - TOPIC_ID_BYTES));
            if (bytes[i] >= 0) {
                return epochSeconds;
            }
        }
        throw new IllegalArgumentException("the id has an unknown format");
    }

    @Override
    public void close() {
        Session lastSession;
        synchronized (this) {
            state = Feed.OFF;
            lastSession = session;
            session = null;
            cache.setEnabled(false);
        }
        if (lastSession != null) {
            lastSession.cancel();
        }
    }

    /** One connection to {@code /v1/changes}. */
    private final class Session implements BodySubscriber<String> {
        private final Address address;
        private final ServerEvents events = new ServerEvents(event -> handle(this, event));
        private final CompletableFuture<String> bodyFuture = new CompletableFuture<>();
        private volatile @Nullable CompletableFuture<HttpResponse<String>> exchange;
        private volatile Flow.@Nullable Subscription subscription;

        /**
         * True if the resolver refused the id (status 400) or sent an unreadable event. Then the next session starts a
         * new feed.
         */
        private volatile boolean needsNewFeed;

        // Guarded by the feed.
        private boolean isOpen;
        private boolean isTimedOut;
        /** Time at which the last id with a later time arrived, or at which the session began. */
        private long lastProgressAt = nanoClock.getAsLong();

        Session(Address address) {
            this.address = address;
        }

        BodySubscriber<String> body(HttpResponse.ResponseInfo response) {
            return response.statusCode() == 200 ? this : new BoundedText(MAX_PROBLEM_BYTES);
        }

        void follow(CompletableFuture<HttpResponse<String>> responseFuture) {
            exchange = responseFuture;
            var unused = responseFuture.whenComplete((response, error) -> {
                if (response == null) {
                    endSession(this, String.valueOf(error));
                    return;
                }
                needsNewFeed |= response.statusCode() == 400;
                endSession(this, response.statusCode() + " " + response.body());
            });
            schedule(options.feedSilence(), this::checkTimeout);
        }

        /** Ends the session if no id with a later time has arrived for the time of the option {@code feedSilence}. */
        private void checkTimeout() {
            long remainingNanos;
            synchronized (ChangeFeed.this) {
                if (session != this) {
                    return;
                }
                remainingNanos = options.feedSilence().toNanos() - (nanoClock.getAsLong() - lastProgressAt);
                isTimedOut = remainingNanos <= 0;
            }
            if (remainingNanos > 0) {
                schedule(Duration.ofNanos(remainingNanos), this::checkTimeout);
            } else {
                endSession(this, "the time in the event ids did not advance for " + options.feedSilence());
                cancel();
            }
        }

        void cancel() {
            Flow.Subscription current = subscription;
            if (current != null) {
                current.cancel();
            }
            bodyFuture.completeExceptionally(new IOException("the session was cancelled"));
            CompletableFuture<HttpResponse<String>> responseFuture = exchange;
            if (responseFuture != null) {
                responseFuture.cancel(true);
            }
        }

        @Override
        public CompletionStage<String> getBody() {
            return bodyFuture;
        }

        @Override
        public void onSubscribe(Flow.Subscription newSubscription) {
            subscription = newSubscription;
            newSubscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            try {
                buffers.forEach(events::parse);
            } catch (IllegalArgumentException e) {
                needsNewFeed = true;
                endSession(this, "invalid event in the feed of changes: " + e.getMessage());
                cancel();
            }
        }

        @Override
        public void onError(Throwable error) {
            bodyFuture.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            bodyFuture.complete("");
        }
    }
}
