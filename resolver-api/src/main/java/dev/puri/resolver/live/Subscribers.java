package dev.puri.resolver.live;

import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.SchemaRegistry;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends changes to all subscribers. The {@link ChangeRing ring} has the last changes. One thread, the sender thread,
 * serves the subscribers in rounds: in each round, it sends each subscriber the changes of the ring for which the
 * subscriber's stream has room.
 *
 * <pre>
 * subscribe ─▶ are all missing changes in the ring? ─yes──▶ newSubscriptions ─▶ sender thread ─▶ sinks
 *                    │ no                                    ▲                     │ table was replaced, and
 *                    ▼                                       │                     ▼ the new ring lacks changes
 *              thread of a replay ───────────────────────────┘              thread of a replay
 * </pre>
 *
 * Subscribers have no queues: the ring holds pending changes once for all subscribers. So a slow subscriber costs only
 * the pending bytes of its stream. It is dropped when the ring overwrites a change that was not sent to the subscriber
 * yet. It may connect again with its last event id.
 *
 * <p>A {@link Subscription} has one owner at a time: the thread that subscribes, a replay, or the sender thread.
 */
public final class Subscribers implements TableKeeper.ChangeReceiverFactory<ChangeRing>, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Subscribers.class);

    /** Maximum number of changes that a subscriber receives in one round. */
    private static final int CHANGES_PER_ROUND = 256;

    /** Delay before the next attempt to send to a subscriber whose stream is full. */
    static final long FULL_STREAM_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long DRAIN_TIMEOUT_SECONDS = 2;
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    /** Delays after a round that an exception ended. */
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(100), Duration.ofSeconds(5));

    // Types of the last event of a stream.
    static final String DROPPED = "dropped";
    static final String BYE = "bye";

    // Reasons in the data of this event.
    static final String STOPPING = "stopping";
    static final String SLOW = "slow-reader";
    static final String FAILED = "failed";
    private static final String REPLACED = "table-replaced";

    private final ChangesOptions options;
    private final AvroValueDecoder<IdentityRow> values;
    private final InstantSource clock;
    private final Counter sent;
    private final MeterRegistry meters;
    private final AtomicInteger streamCount = new AtomicInteger();
    private final Replays replays;
    private final Queue<Subscription> newSubscriptions = new ConcurrentLinkedQueue<>();
    private final CountDownLatch streamsEnded = new CountDownLatch(1);
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("changes", stop, RETRY_POLICY, this::run, this::roundFailed);

    /** The subscribers that the sender thread serves. Used only by this thread, and kept when a round fails. */
    private final List<Subscription> subscriptions = new ArrayList<>();

    /** The ring of the serving table; null before the first table is complete. */
    private volatile @Nullable ChangeRing currentRing;

    /** Whether the serving table has an identity. */
    private volatile BiPredicate<Puri, UUID> exists = (puri, uuid) -> false;

    /** The same for the table whose ring was created last. The rings do not have it: they may outlive their tables. */
    private volatile BiPredicate<Puri, UUID> existsInNext = exists;

    /** Why the last round failed, if it failed. */
    private final FailureState roundFailure = new FailureState();

    private volatile boolean isAsleep;
    private volatile boolean isDraining;

    /** The result of a request to subscribe. */
    public enum Admission {
        /** The subscriber receives changes. */
        ADMITTED,
        /** The first table is not complete yet. */
        NOT_READY,
        /** The number of subscribers has reached its limit. */
        TOO_MANY_STREAMS,
        /** The subscriber needs older changes, and the number of replays has reached its limit. */
        TOO_MANY_REPLAYS,
        /** The server is stopping. */
        DRAINING
    }

    private Subscribers(
            ChangesOptions options,
            ChangeLog changes,
            AvroValueDecoder<IdentityRow> values,
            InstantSource clock,
            MeterRegistry meters) {
        this.options = options;
        this.values = values;
        this.clock = clock;
        this.meters = meters;
        this.replays = new Replays(this, changes, options);
        this.sent = Counter.builder("puri.changes.sent")
                .description("Changes sent, counted for each subscriber")
                .register(meters);
        for (String reason : List.of(SLOW, FAILED, REPLACED)) {
            droppedCounter(reason);
        }
        Gauge.builder("puri.changes.streams", streamCount, AtomicInteger::get)
                .description("Subscribers to changes")
                .register(meters);
    }

    /**
     * Starts the thread. Subscribers are admitted only after {@link #serves}.
     *
     * @param consumers create consumers that read committed records only, for older changes
     * @param registry resolves schema ids; this class does not close it
     */
    public static Subscribers start(
            ChangesOptions options,
            Supplier<Consumer<byte[], byte[]>> consumers,
            SchemaRegistry registry,
            InstantSource clock,
            MeterRegistry meters) {
        AvroValueDecoder<IdentityRow> values = new AvroValueDecoder<>(IdentityRow.class, registry);
        return start(options, new ChangeReplay(consumers, values, System::nanoTime), values, clock, meters);
    }

    static Subscribers start(
            ChangesOptions options,
            ChangeLog changes,
            AvroValueDecoder<IdentityRow> values,
            InstantSource clock,
            MeterRegistry meters) {
        Subscribers started = new Subscribers(options, changes, values, clock, meters);
        started.thread.start();
        return started;
    }

    private Counter droppedCounter(String reason) {
        return Counter.builder("puri.changes.dropped")
                .description("Streams that the resolver ended before its stop, by reason")
                .tag("reason", reason)
                .register(meters);
    }

    /** Creates the ring of a full table. The caller must add every change at or after the next offsets. */
    @Override
    public ChangeRing create(Uuid topicId, long[] nextOffsets, Instant completeAt, BiPredicate<Puri, UUID> exists) {
        existsInNext = exists;
        return new ChangeRing(topicId, nextOffsets, completeAt, options.history(), values, this::wake);
    }

    /** Moves all subscribers to the ring that was created last, because its table serves now. */
    @Override
    public void serves(ChangeRing ring) {
        exists = existsInNext;
        currentRing = ring;
        wake();
    }

    /**
     * Admits a subscriber, or returns the reason why not. Does not block.
     *
     * @param lastId the id of the last event that the subscriber received; null to receive only changes from now on
     * @param open opens the stream; called on this thread, once if the subscriber is admitted and never otherwise. The
     *     stream must cancel the subscription when the client disconnects
     */
    public Admission subscribe(@Nullable ChangeId lastId, CollectionFilter filter, Function<Subscription, Sink> open) {
        ChangeRing ring = currentRing;
        if (isDraining) {
            return Admission.DRAINING;
        }
        if (ring == null) {
            return Admission.NOT_READY;
        }
        if (streamCount.incrementAndGet() > options.maxStreams()) {
            streamCount.decrementAndGet();
            return Admission.TOO_MANY_STREAMS;
        }
        Subscription subscription = new Subscription(this, filter, options.pendingBytes(), ring, lastId);
        boolean needsReplay = lastId != null && !attach(subscription, ring);
        if (needsReplay && !replays.tryAcquire()) {
            subscription.cancel();
            return Admission.TOO_MANY_REPLAYS;
        }
        try {
            subscription.open(open.apply(subscription));
        } catch (RuntimeException | Error e) {
            subscription.cancel();
            if (needsReplay) {
                replays.release();
            }
            throw e;
        }
        if (needsReplay) {
            replays.start(subscription);
        } else {
            addToSender(subscription);
        }
        return Admission.ADMITTED;
    }

    /**
     * Attaches a subscriber to the ring. A subscriber whose last event id is unusable continues at the end of the ring,
     * after an event {@code reset}.
     *
     * @return false if the subscriber misses changes that are older than the ring, and needs a replay
     */
    boolean attach(Subscription subscription, ChangeRing ring) {
        switch (subscription.attach(ring, clock.instant(), options.maxIdAge())) {
            case ATTACHED -> {
                return true;
            }
            case OTHER_TOPIC -> subscription.reset(ring, "other-topic");
            case TOO_OLD -> subscription.reset(ring, "too-old");
            case NEEDS_REPLAY -> {
                return false;
            }
        }
        return true;
    }

    /** Passes a subscriber that is attached to the ring to the sender thread. */
    void addToSender(Subscription subscription) {
        newSubscriptions.add(subscription);
        wake();
    }

    /** Runs rounds until the stop. An exception of one subscriber ends only its stream; any other ends one round. */
    private void run() {
        long heartbeatNanos = System.nanoTime() + options.heartbeat().toNanos();
        while (!stop.isRequested()) {
            takeNewSubscriptions();
            if (isDraining) {
                subscriptions.forEach(subscription -> endWithBye(subscription, STOPPING));
                subscriptions.clear();
                streamsEnded.countDown();
            }
            ChangeRing ring = currentRing;
            long nextNumber = ring == null ? 0 : ring.nextNumber();
            if (ring != null) {
                ring.forgetOlderThan(options.maxAge(), clock.instant());
            }
            boolean isHeartbeatDue = System.nanoTime() - heartbeatNanos >= 0;
            long sleepNanos = runRound(ring, isHeartbeatDue);
            roundFailure.clear();
            if (isHeartbeatDue) {
                heartbeatNanos = System.nanoTime() + options.heartbeat().toNanos();
            }
            sleep(Math.min(sleepNanos, heartbeatNanos - System.nanoTime()), ring, nextNumber);
        }
        takeNewSubscriptions();
        subscriptions.forEach(subscription -> endWithBye(subscription, STOPPING));
        streamsEnded.countDown();
    }

    private void roundFailed(Throwable cause) {
        if (roundFailure.changeTo(cause.toString())) {
            log.error("Cannot send changes to subscribers; will retry", cause);
        }
    }

    private void takeNewSubscriptions() {
        for (Subscription added = newSubscriptions.poll(); added != null; added = newSubscriptions.poll()) {
            subscriptions.add(added);
        }
    }

    /** Serves each subscriber once; returns how long the thread may sleep, in nanoseconds. */
    private long runRound(@Nullable ChangeRing ring, boolean isHeartbeatDue) {
        long sleepNanos = Long.MAX_VALUE;
        List<Subscription> remaining = new ArrayList<>(subscriptions.size());
        for (Subscription subscription : subscriptions) {
            try {
                if (ring != null && subscription.ring() != ring && !moveTo(ring, subscription)) {
                    continue;
                }
                switch (subscription.send(CHANGES_PER_ROUND)) {
                    case CAUGHT_UP -> {
                        if (isHeartbeatDue && !subscription.sendId()) {
                            continue;
                        }
                    }
                    case MORE -> sleepNanos = 0;
                    case STREAM_FULL -> sleepNanos = Math.min(sleepNanos, FULL_STREAM_DELAY_NANOS);
                    case OVERRUN -> {
                        drop(subscription, DROPPED, SLOW);
                        continue;
                    }
                    case ENDED -> {
                        continue;
                    }
                }
                remaining.add(subscription);
            } catch (RuntimeException | Error e) {
                log.error("Ended the stream of a subscriber, because sending to it failed", e);
                tryEnd(subscription, FAILED, () -> droppedCounter(FAILED).increment());
            }
        }
        subscriptions.clear();
        subscriptions.addAll(remaining);
        return sleepNanos;
    }

    /** Moves a subscriber to the ring of another table. Returns false if the sender thread no longer serves it. */
    private boolean moveTo(ChangeRing ring, Subscription subscription) {
        if (attach(subscription, ring)) {
            return true;
        }
        if (replays.tryAcquire()) {
            replays.start(subscription);
        } else {
            // The subscriber connects again with its id, perhaps to another instance.
            drop(subscription, BYE, REPLACED);
        }
        return false;
    }

    /** Ends a stream with an event of this type and counts it as dropped, unless it has ended. */
    void drop(Subscription subscription, String type, String reason) {
        subscription.end(type, reason, () -> droppedCounter(reason).increment());
    }

    void endWithBye(Subscription subscription, String reason) {
        tryEnd(subscription, reason, () -> {});
    }

    /** Ends a stream with {@code bye}. An exception is only logged. */
    private static void tryEnd(Subscription subscription, String reason, Runnable count) {
        try {
            subscription.end(BYE, reason, count);
        } catch (RuntimeException | Error e) {
            log.error("The stream of a subscriber could not be ended", e);
        }
    }

    void countSent() {
        sent.increment();
    }

    /** Decrements the number of open streams. */
    void onStreamEnded() {
        streamCount.decrementAndGet();
    }

    /**
     * Parks the thread, unless work has arrived since the round began. {@code isAsleep} is set before the check:
     * whoever adds work after the check sees it and unparks the thread.
     */
    private void sleep(long nanos, @Nullable ChangeRing ring, long nextNumber) {
        if (nanos <= 0) {
            return;
        }
        isAsleep = true;
        boolean hasWork = !newSubscriptions.isEmpty()
                || currentRing != ring
                || (ring != null && ring.nextNumber() != nextNumber)
                || (isDraining && streamsEnded.getCount() > 0)
                || stop.isRequested();
        if (!hasWork) {
            LockSupport.parkNanos(this, nanos);
        }
        isAsleep = false;
    }

    private void wake() {
        if (isAsleep) {
            isAsleep = false;
            thread.unpark();
        }
    }

    /** Returns a human-readable reason why subscribers receive no changes now; null if they receive changes. */
    public @Nullable String failureReason() {
        return roundFailure.reason();
    }

    /** The ring of the serving table; null before the first table is complete. */
    @Nullable
    ChangeRing currentRing() {
        return currentRing;
    }

    /** Whether the serving table has an identity with a pURI and uuid; false before the first table is complete. */
    boolean exists(Puri puri, UUID uuid) {
        return exists.test(puri, uuid);
    }

    /** Whether all streams are being ended, because the server is stopping. */
    boolean isDraining() {
        return isDraining;
    }

    /** Admits no further subscribers and ends every stream with a {@code bye}; waits up to 2 s until they are sent. */
    public void drain() {
        isDraining = true;
        wake();
        replays.interrupt();
        try {
            if (!streamsEnded.await(DRAIN_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                log.warn("Streams of subscribers were not ended within {} s", DRAIN_TIMEOUT_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        drain();
        stop.request();
        thread.unpark();
        thread.join(STOP_TIMEOUT);
        replays.join(STOP_TIMEOUT);
    }
}
