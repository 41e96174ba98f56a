package dev.puri.registry;

import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
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
 * Looks up schemas by id for stream threads. A look-up on a stream thread must not throw and must not block for long:
 * with exactly-once semantics Kafka Streams discards the state of a task whose {@code process()} throws, for example
 * after a time-out.
 *
 * <p>So threads of this class send the requests to the schema registry. They work in rounds: a round sends all open
 * requests, several at a time. A request without a response stays open for the next round and does not delay the other
 * requests.
 *
 * <p>Only the first stream thread that needs an id waits for the schema, for a short time. A caller that gets {@link
 * Pending} parks the event and looks the id up again later. The number of waits per second is limited, because a
 * producer that uses a new id in each event would otherwise delay all events of the partition.
 */
final class SchemaLookup implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SchemaLookup.class);

    private static final Duration MAX_WAIT = Duration.ofMillis(100);
    private static final int WAITS_PER_SECOND = 5;
    private static final int CONCURRENT_REQUESTS = 8;
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    /** How long an id counts as unknown. A registry assigns ids in sequence, so the id may exist later. */
    private static final Duration UNKNOWN_TTL = Duration.ofSeconds(5);

    private static final int MAX_OPEN_REQUESTS = 1000;
    private static final int MAX_CACHED_UNKNOWN_IDS = 10_000;

    /** The result of a look-up. */
    sealed interface Result {}

    /** A result that comes from the schema registry. */
    sealed interface Response extends Result {}

    record Known(Schema schema) implements Response {}

    /** The schema registry has no schema with the id, or {@link #await} ended because of {@link #close}. */
    record Unknown(String detail) implements Response {}

    /** The schema registry has not responded yet. */
    record Pending() implements Result {}

    private static final Pending PENDING = new Pending();

    private record CachedUnknown(Unknown response, Instant expiresAt) {}

    private final SchemaRegistry registry;
    private final InstantSource clock;
    private final Duration maxWait;
    private final int waitsPerSecond;
    private final Duration retryDelay;
    private final Map<Integer, Known> knownById = new ConcurrentHashMap<>();
    private final Map<Integer, CountDownLatch> openRequests = new ConcurrentHashMap<>();
    private final Map<Integer, CachedUnknown> unknownById = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, CachedUnknown> eldest) {
            return size() > MAX_CACHED_UNKNOWN_IDS;
        }
    };
    private final ExecutorService executor = Executors.newFixedThreadPool(
            CONCURRENT_REQUESTS,
            Thread.ofPlatform().daemon().name("schema-request-", 0).factory());
    private final Stop stop = new Stop();
    private final SupervisedThread requester;
    private long currentSecond;
    private int waitsInCurrentSecond;
    private volatile @Nullable Instant unreachableSince;

    SchemaLookup(SchemaRegistry registry, InstantSource clock) {
        this(registry, clock, MAX_WAIT, WAITS_PER_SECOND);
    }

    SchemaLookup(SchemaRegistry registry, InstantSource clock, Duration maxWait, int waitsPerSecond) {
        this(registry, clock, maxWait, waitsPerSecond, RETRY_DELAY);
    }

    /**
     * @param maxWait maximum time that the first caller for an id waits for the schema
     * @param waitsPerSecond maximum number of such waits per second
     * @param retryDelay the delay before requests without a response are repeated
     */
    SchemaLookup(
            SchemaRegistry registry, InstantSource clock, Duration maxWait, int waitsPerSecond, Duration retryDelay) {
        this.registry = registry;
        this.clock = clock;
        this.maxWait = maxWait;
        this.waitsPerSecond = waitsPerSecond;
        this.retryDelay = retryDelay;
        this.requester = new SupervisedThread(
                "schema-lookup", stop, RetryPolicy.fixed(retryDelay), this::runRounds, SchemaLookup::logRoundFailure);
        requester.start();
    }

    /** Returns the response of the schema registry for an id, or {@link Pending} after at most a short wait. */
    Result lookUp(int id) {
        Response response = cachedResponse(id);
        if (response != null) {
            return response;
        }
        CountDownLatch completion = new CountDownLatch(1);
        if (openRequests.size() >= MAX_OPEN_REQUESTS || openRequests.putIfAbsent(id, completion) != null) {
            return PENDING;
        }
        synchronized (openRequests) {
            openRequests.notifyAll();
        }
        if (unreachableSince != null || !mayWait()) {
            return PENDING;
        }
        await(completion, maxWait);
        response = cachedResponse(id);
        return response == null ? PENDING : response;
    }

    private synchronized boolean mayWait() {
        long second = clock.millis() / 1000;
        if (second != currentSecond) {
            currentSecond = second;
            waitsInCurrentSecond = 0;
        }
        return waitsInCurrentSecond++ < waitsPerSecond;
    }

    /**
     * Waits without limit until the schema registry has responded, or until this object is closed. Stream threads must
     * not call it.
     */
    Response await(int id) {
        while (!stop.isRequested() && !Thread.currentThread().isInterrupted()) {
            if (lookUp(id) instanceof Response response) {
                return response;
            }
            CountDownLatch completion = openRequests.get(id);
            // There is no request if too many are open or if it has just been completed. Then this waits MAX_WAIT.
            await(completion == null ? new CountDownLatch(1) : completion, MAX_WAIT);
        }
        return new Unknown("the service stopped before the schema registry returned schema " + id);
    }

    /** Returns the time since which no request got a response; null if the schema registry is reachable. */
    @Nullable
    Instant unreachableSince() {
        return unreachableSince;
    }

    private @Nullable Response cachedResponse(int id) {
        if (id < 0) {
            // A registry may return any error for a negative id, and the request would be repeated for ever.
            return new Unknown("no schema has the id " + id);
        }
        Known schema = knownById.get(id);
        if (schema != null) {
            return schema;
        }
        synchronized (unknownById) {
            CachedUnknown cached = unknownById.get(id);
            if (cached == null || cached.expiresAt().isAfter(clock.instant())) {
                return cached == null ? null : cached.response();
            }
            unknownById.remove(id);
            return null;
        }
    }

    private static void await(CountDownLatch completion, Duration maxWait) {
        try {
            boolean ignored = completion.await(maxWait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void runRounds() throws InterruptedException {
        while (!stop.isRequested()) {
            boolean anyResponse = false;
            boolean anyFailure = false;
            for (Future<Boolean> request : executor.invokeAll(roundRequests())) {
                boolean isCompleted = isCompleted(request);
                anyResponse |= isCompleted;
                anyFailure |= !isCompleted;
            }
            updateReachability(anyResponse, anyFailure);
            awaitNextRound(anyFailure);
        }
    }

    private static void logRoundFailure(Throwable cause) {
        LOG.error("A round of requests to the schema registry failed; it will be repeated", cause);
    }

    /** Waits for a request; returns whether it got a response. */
    private boolean isCompleted(Future<Boolean> request) throws InterruptedException {
        try {
            return request.get();
        } catch (ExecutionException e) {
            if (!stop.isRequested()) {
                LOG.error("A request to the schema registry failed; it will be repeated", e.getCause());
            }
            return false;
        }
    }

    private List<Callable<Boolean>> roundRequests() {
        List<Callable<Boolean>> requests = new ArrayList<>();
        for (int id : openRequests.keySet()) {
            requests.add(() -> completeRequest(id));
        }
        return requests;
    }

    /** Requests a schema and wakes the waiting threads; returns false if there was no response. */
    private boolean completeRequest(int id) {
        // An earlier request may have cached the response after the caller's look-up and before the caller's request.
        if (cachedResponse(id) == null && !fetch(id)) {
            return false;
        }
        unreachableSince = null;
        CountDownLatch completion = openRequests.remove(id);
        if (completion != null) {
            completion.countDown();
        }
        return true;
    }

    /** Requests a schema and caches the response; returns false if there was no response. */
    private boolean fetch(int id) {
        try {
            knownById.put(id, new Known(registry.byId(id)));
        } catch (UnknownSchemaException e) {
            LOG.debug("Schema {} is unknown: {}", id, e.getMessage());
            Unknown response = new Unknown(String.valueOf(e.getMessage()));
            synchronized (unknownById) {
                unknownById.put(id, new CachedUnknown(response, clock.instant().plus(UNKNOWN_TTL)));
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
        synchronized (openRequests) {
            if (anyFailure) {
                openRequests.wait(retryDelay.toMillis());
            } else if (openRequests.isEmpty()) {
                openRequests.wait();
            }
        }
    }

    @Override
    public void close() {
        stop.request();
        requester.interrupt();
        executor.shutdownNow();
    }
}
