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
 * Follows {@code GET /v1/changes} and invalidates the rows of the cache that change.
 *
 * <pre>
 *               first id of a new feed, or reset: clear
 *   CONNECTING ─────────────────────────────────────────▶ CURRENT
 *    ▲  ▲   │                                              ▲  │
 *    │  │   └─ first id of one that goes on ─▶ CATCHING_UP ┘  │  id of a later second
 *    │  │                                           │         │
 *    │  └───── end, error, silence ─────────────────┘         │
 *    └──────── end, error, silence ───────────────────────────┘
 * </pre>
 *
 * The cache is used while CURRENT. Ids are offsets of the registry's log, the same on every resolver, so a feed goes on
 * where it was at any address. An id also has a second: all changes that were in the log by then precede the id. Once the
 * second moves on after a connection, the cache has all changes from before the connection. The second of a resolver
 * that is cut off or behind stands still, so silence is counted from when it last moved on, and not from the last change.
 *
 * <p>All transitions are guarded by this object's monitor; events of an earlier session are ignored.
 */
final class ChangeFeed implements AutoCloseable {
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /**
     * A jump of the seconds by which the topic may have been compacted, so that the feed reports several changes of a row as
     * one; answers that depend on the states between are dropped.
     */
    private static final long GAP_SECONDS = 60;

    private static final int TOPIC_BYTES = 4;
    private static final int PROBLEM_BYTES = 64 << 10;
    private static final int MAX_TROUBLE = 300;

    private final HttpClient http;
    private final ResolverOptions options;
    private final Addresses addresses;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoClock;
    private final RowCache cache;
    private final LongAdder connections = new LongAdder();

    // Guarded by this.
    private Feed state = Feed.CONNECTING;
    private @Nullable Session session;
    private Duration pause = FIRST_PAUSE;
    private @Nullable String trouble;

    /** Id up to which the cache has all changes, for Last-Event-ID; null to start a new feed. */
    private @Nullable String lastId;

    /** The second of that id. */
    private long lastSeconds;

    ChangeFeed(
            HttpClient http,
            ResolverOptions options,
            Addresses addresses,
            ScheduledExecutorService timer,
            LongSupplier nanoClock,
            RowCache cache) {
        this.http = http;
        this.options = options;
        this.addresses = addresses;
        this.timer = timer;
        this.nanoClock = nanoClock;
        this.cache = cache;
    }

    synchronized CacheStatistics statistics() {
        return cache.statistics(connections.sum(), state, trouble);
    }

    synchronized void connect() {
        if (state == Feed.OFF) {
            return;
        }
        cache.forgetChanges();
        Address address = addresses.inOrder().get(0);
        Session opened = new Session(address);
        session = opened;
        connections.increment();
        try {
            opened.follow(http.sendAsync(request(address), opened::body));
        } catch (RuntimeException e) {
            // A thrown exception would end the timer's task, and with it the feed.
            ended(opened, e.toString());
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

    /** Ends a session, and schedules the next one. */
    private synchronized void ended(Session over, String why) {
        if (session != over || state == Feed.OFF) {
            return;
        }
        session = null;
        trouble = why.length() > MAX_TROUBLE ? why.substring(0, MAX_TROUBLE) + "…" : why;
        state = Feed.CONNECTING;
        cache.use(false);
        if (over.isOpen) {
            pause = FIRST_PAUSE;
        }
        if (over.isRefused) {
            lastId = null;
        }
        if (!over.isOpen || over.wasSilent) {
            over.address.failed();
        }
        Duration asked = over.events.retry();
        Duration wanted = asked == null || asked.compareTo(pause) < 0 ? pause : asked;
        after(wanted.compareTo(LONGEST_PAUSE) < 0 ? wanted : LONGEST_PAUSE, this::connect);
        pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
    }

    private void after(Duration time, Runnable action) {
        try {
            var unused = timer.schedule(action, time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // Closed meanwhile.
        }
    }

    private synchronized void take(Session source, ServerEvents.Event event) {
        if (session != source || state == Feed.OFF) {
            return;
        }
        // The cache must have the change before its id is recorded, because the next session continues after that id.
        switch (event.type()) {
            case "changed" -> {
                JsonNode row = Wire.json(event.data());
                cache.changed(
                        Puri.parse(Wire.required(row, "puri")),
                        Wire.required(row, "status").equals("active"));
            }
            case "erased" -> cache.changed(Puri.parse(Wire.required(Wire.json(event.data()), "puri")), false);
            case "reset" -> {
                lastId = null;
                state = Feed.CATCHING_UP;
                cache.use(false);
            }
            default -> {}
        }
        String id = event.id();
        if (id != null && !id.equals(lastId)) {
            reportedUpTo(source, id);
        } else if (id != null) {
            opened(source);
        }
    }

    private void reportedUpTo(Session source, String id) {
        long seconds = seconds(id);
        boolean isNew = lastId == null;
        if (isNew) {
            cache.clear();
        } else if (seconds - lastSeconds > GAP_SECONDS) {
            cache.dropChains();
        }
        cache.forgetChanges();
        opened(source);
        if (isNew || seconds > lastSeconds) {
            state = Feed.CURRENT;
            cache.use(true);
            source.currentAt = nanoClock.getAsLong();
        }
        lastId = id;
        lastSeconds = seconds;
    }

    /** Marks a session as open at its first id. */
    private void opened(Session source) {
        if (!source.isOpen) {
            source.isOpen = true;
            trouble = null;
            source.address.answered();
            state = Feed.CATCHING_UP;
            cache.dropChains();
        }
    }

    /**
     * Reads the second of an id. An id is the base64url form of four bytes and then of a varint (seven bits a byte, lowest first), the
     * second.
     *
     * @throws IllegalArgumentException if the id has another form
     */
    static long seconds(String id) {
        byte[] bytes = Base64.getUrlDecoder().decode(id);
        long seconds = 0;
        for (int i = TOPIC_BYTES; i < bytes.length && i < TOPIC_BYTES + 9; i++) {
            seconds |= (long) (bytes[i] & 0x7f) << (7 * (i - TOPIC_BYTES));
            if (bytes[i] >= 0) {
                return seconds;
            }
        }
        throw new IllegalArgumentException("an id of a form that is not known");
    }

    @Override
    public void close() {
        Session last;
        synchronized (this) {
            state = Feed.OFF;
            last = session;
            session = null;
            cache.use(false);
        }
        if (last != null) {
            last.cancel();
        }
    }

    /** One connection to {@code /v1/changes}. */
    private final class Session implements BodySubscriber<String> {
        private final Address address;
        private final ServerEvents events = new ServerEvents(event -> take(this, event));
        private final CompletableFuture<String> end = new CompletableFuture<>();
        private volatile @Nullable CompletableFuture<HttpResponse<String>> exchange;
        private volatile Flow.@Nullable Subscription subscription;

        /** The resolver refused the id (status 400) or sent an event that cannot be read. The next session starts a new feed. */
        private volatile boolean isRefused;

        // Guarded by the feed.
        private boolean isOpen;
        private boolean wasSilent;
        /** Time at which the second of the ids last moved on, or at which the session began. */
        private long currentAt = nanoClock.getAsLong();

        Session(Address address) {
            this.address = address;
        }

        BodySubscriber<String> body(HttpResponse.ResponseInfo response) {
            return response.statusCode() == 200 ? this : new BoundedText(PROBLEM_BYTES);
        }

        void follow(CompletableFuture<HttpResponse<String>> asked) {
            exchange = asked;
            var unused = asked.whenComplete((response, error) -> {
                if (response == null) {
                    ended(this, String.valueOf(error));
                    return;
                }
                isRefused |= response.statusCode() == 400;
                ended(this, response.statusCode() + " " + response.body());
            });
            after(options.feedSilence(), this::watch);
        }

        /** Ends the session if the second of its ids has not moved on within the option {@code feedSilence}. */
        private void watch() {
            long left;
            synchronized (ChangeFeed.this) {
                if (session != this) {
                    return;
                }
                left = options.feedSilence().toNanos() - (nanoClock.getAsLong() - currentAt);
                wasSilent = left <= 0;
            }
            if (left > 0) {
                after(Duration.ofNanos(left), this::watch);
            } else {
                ended(this, "the seconds of its ids did not move on for " + options.feedSilence());
                cancel();
            }
        }

        void cancel() {
            Flow.Subscription reading = subscription;
            if (reading != null) {
                reading.cancel();
            }
            end.completeExceptionally(new IOException("the feed was given up"));
            CompletableFuture<HttpResponse<String>> asked = exchange;
            if (asked != null) {
                asked.cancel(true);
            }
        }

        @Override
        public CompletionStage<String> getBody() {
            return end;
        }

        @Override
        public void onSubscribe(Flow.Subscription reading) {
            subscription = reading;
            reading.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            try {
                buffers.forEach(events::take);
            } catch (IllegalArgumentException e) {
                isRefused = true;
                ended(this, "not a feed of changes: " + e.getMessage());
                cancel();
            }
        }

        @Override
        public void onError(Throwable error) {
            end.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            end.complete("");
        }
    }
}
