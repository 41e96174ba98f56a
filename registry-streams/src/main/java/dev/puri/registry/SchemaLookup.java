package dev.puri.registry;

import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up schemas by id for stream threads, which must neither wait long nor get an exception: with exactly-once
 * semantics a time-out inside {@code process()} discards the task's state.
 *
 * <p>Threads of this class request the schemas. They repeat every open request in each round, so that a request without
 * a response does not delay the others. The first stream thread that needs an id waits a short time for it; if the
 * result is {@link Pending}, the thread parks the event and retries later. The number of such waits per second is
 * limited, because a producer that uses a new id in each event would otherwise delay all events of the partition.
 */
final class SchemaLookup implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SchemaLookup.class);

    private static final Duration MAX_WAIT = Duration.ofMillis(100);
    private static final int WAITS_PER_SECOND = 5;
    private static final int CONCURRENT_REQUESTS = 8;
    private static final Duration RETRY = Duration.ofSeconds(1);

    /** How long an id counts as unknown; registries assign ids in sequence, so it may exist later. */
    private static final Duration UNKNOWN_TTL = Duration.ofSeconds(5);

    private static final int MAX_OPEN_REQUESTS = 1000;
    private static final int MAX_CACHED_UNKNOWN = 10_000;

    /** The result of a look-up. */
    sealed interface Result {}

    /** A result that the schema registry returned. */
    sealed interface Response extends Result {}

    record Known(Schema schema) implements Response {}

    record Unknown(String detail) implements Response {}

    /** The schema registry has not responded yet. */
    record Pending() implements Result {}

    private static final Pending PENDING = new Pending();

    private record CachedUnknown(Unknown response, Instant expiresAt) {}

    private final SchemaRegistry registry;
    private final InstantSource clock;
    private final Duration maxWait;
    private final int waitsPerSecond;
    private final Map<Integer, Known> known = new ConcurrentHashMap<>();
    private final Map<Integer, CountDownLatch> open = new ConcurrentHashMap<>();
    private final Map<Integer, CachedUnknown> unknown = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, CachedUnknown> eldest) {
            return size() > MAX_CACHED_UNKNOWN;
        }
    };
    private final ExecutorService executor = Executors.newFixedThreadPool(
            CONCURRENT_REQUESTS,
            Thread.ofPlatform().daemon().name("schema-request-", 0).factory());
    private final Stop stop = new Stop();
    private final SupervisedThread requester = new SupervisedThread(
            "schema-lookup", stop, RetryPolicy.fixed(RETRY), this::runRounds, SchemaLookup::failed);
    private long waitsCountedSince;
    private int waits;
    private volatile @Nullable Instant unreachableSince;

    SchemaLookup(SchemaRegistry registry, InstantSource clock) {
        this(registry, clock, MAX_WAIT, WAITS_PER_SECOND);
    }

    /**
     * @param maxWait how long the first caller that needs an id waits for it
     * @param waitsPerSecond the most such waits per second
     */
    SchemaLookup(SchemaRegistry registry, InstantSource clock, Duration maxWait, int waitsPerSecond) {
        this.registry = registry;
        this.clock = clock;
        this.maxWait = maxWait;
        this.waitsPerSecond = waitsPerSecond;
        requester.start();
    }

    /** Returns the schema of an id, or {@link Pending} after at most a short wait. */
    Result schema(int id) {
        Response response = response(id);
        if (response != null) {
            return response;
        }
        CountDownLatch request = new CountDownLatch(1);
        if (open.size() >= MAX_OPEN_REQUESTS || open.putIfAbsent(id, request) != null) {
            return PENDING;
        }
        synchronized (open) {
            open.notifyAll();
        }
        if (unreachableSince != null || !mayWait()) {
            return PENDING;
        }
        await(request, maxWait);
        response = response(id);
        return response == null ? PENDING : response;
    }

    private synchronized boolean mayWait() {
        long second = clock.millis() / 1000;
        if (second != waitsCountedSince) {
            waitsCountedSince = second;
            waits = 0;
        }
        return waits++ < waitsPerSecond;
    }

    /** Waits until the registry responds or this is closed; for threads that may wait without limit. */
    Response await(int id) {
        while (!stop.isAsked() && !Thread.currentThread().isInterrupted()) {
            if (schema(id) instanceof Response response) {
                return response;
            }
            CountDownLatch request = open.get(id);
            // Null if there were too many open requests; the next round completes some.
            await(request == null ? new CountDownLatch(1) : request, MAX_WAIT);
        }
        return new Unknown("the registry was not asked for schema " + id + ": the service stops");
    }

    /** Returns since when the registry has not responded; null if it responded to the last requests. */
    @Nullable
    Instant unreachableSince() {
        return unreachableSince;
    }

    private @Nullable Response response(int id) {
        if (id < 0) {
            // A registry may respond with any error to a negative id, and the request would be repeated for ever.
            return new Unknown("no schema has the id " + id);
        }
        Known schema = known.get(id);
        if (schema != null) {
            return schema;
        }
        synchronized (unknown) {
            CachedUnknown cached = unknown.get(id);
            if (cached == null || cached.expiresAt().isAfter(clock.instant())) {
                return cached == null ? null : cached.response();
            }
            unknown.remove(id);
            return null;
        }
    }

    private static void await(CountDownLatch request, Duration maxWait) {
        try {
            boolean ignored = request.await(maxWait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void runRounds() throws InterruptedException {
        while (!stop.isAsked()) {
            boolean anyResponse = false;
            boolean anyFailure = false;
            for (Future<Boolean> request : executor.invokeAll(requests())) {
                boolean hasResponse = hasResponse(request);
                anyResponse |= hasResponse;
                anyFailure |= !hasResponse;
            }
            updateReachability(anyResponse, anyFailure);
            awaitNextRound(anyFailure);
        }
    }

    private static void failed(Throwable cause) {
        LOG.error("A round of requests to the schema registry failed and is repeated", cause);
    }

    private boolean hasResponse(Future<Boolean> request) throws InterruptedException {
        try {
            return request.get();
        } catch (ExecutionException e) {
            if (!stop.isAsked()) {
                LOG.error("A request to the schema registry failed and is repeated", e.getCause());
            }
            return false;
        }
    }

    private List<Callable<Boolean>> requests() {
        List<Callable<Boolean>> requests = new ArrayList<>();
        for (int id : open.keySet()) {
            requests.add(() -> request(id));
        }
        return requests;
    }

    /** Requests one id; returns false if there was no response. */
    private boolean request(int id) {
        // The response may have arrived between a caller's check for it and the caller's request.
        if (response(id) == null && !fetch(id)) {
            return false;
        }
        unreachableSince = null;
        CountDownLatch request = open.remove(id);
        if (request != null) {
            request.countDown();
        }
        return true;
    }

    private boolean fetch(int id) {
        try {
            known.put(id, new Known(registry.byId(id)));
        } catch (UnknownSchemaException e) {
            LOG.debug("Schema {} is unknown: {}", id, e.getMessage());
            Unknown response = new Unknown(String.valueOf(e.getMessage()));
            synchronized (unknown) {
                unknown.put(id, new CachedUnknown(response, clock.instant().plus(UNKNOWN_TTL)));
            }
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            LOG.debug("No response for schema {}: {}", id, e.getMessage());
            return false;
        }
        return true;
    }

    private void updateReachability(boolean anyResponse, boolean anyFailure) {
        if (anyResponse || !anyFailure) {
            unreachableSince = null;
        } else if (unreachableSince == null) {
            unreachableSince = clock.instant();
        }
    }

    private void awaitNextRound(boolean anyFailure) throws InterruptedException {
        synchronized (open) {
            if (anyFailure) {
                open.wait(RETRY.toMillis());
            } else if (open.isEmpty()) {
                open.wait();
            }
        }
    }

    @Override
    public void close() {
        stop.ask();
        requester.interrupt();
        executor.shutdownNow();
    }
}
