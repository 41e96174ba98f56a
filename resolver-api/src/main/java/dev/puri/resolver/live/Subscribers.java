package dev.puri.resolver.live;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.tail.AvroValues;
import dev.puri.tail.FailureState;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
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
 * All subscribers to changes. One thread serves them in rounds: it sends to each the changes of the ring that its
 * stream can take.
 *
 * <pre>
 * subscribe ─▶ all in the ring? ──yes──▶ arrivals ─▶ the thread's rounds ─▶ sinks
 *                    │ no                   ▲                │ the ring overran it: dropped
 *                    ▼                      │                │ the ring of another table: start again
 *              a thread that replays ───────┘ ◀──────────────┘
 * </pre>
 *
 * Subscribers have no queues: the ring holds pending changes once for all of them. So a slow subscriber costs only the
 * pending bytes of its stream, and is dropped when the ring overruns it. It may connect again with its last id.
 */
public final class Subscribers implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Subscribers.class);

    /** Changes that one subscriber receives before the next one's turn. */
    private static final int SLICE = 256;

    /** How soon to try a subscriber again whose stream was full. */
    static final long BLOCKED_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long DRAIN_SECONDS = 2;
    private static final Duration STOP = Duration.ofSeconds(10);

    /** Delays after a round that failed as a whole. */
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(100), Duration.ofSeconds(5));

    static final String DROPPED = "dropped";
    static final String BYE = "bye";
    static final String STOPPING = "stopping";
    static final String SLOW = "slow-reader";
    static final String FAILED = "failed";
    private static final String REPLACED = "table-replaced";

    private final ChangesOptions options;
    private final AvroValues<IdentityRow> values;
    private final InstantSource clock;
    private final Counter sent;
    private final MeterRegistry meters;
    private final AtomicInteger streams = new AtomicInteger();
    private final Replays replays;
    private final Queue<Subscription> arrivals = new ConcurrentLinkedQueue<>();
    private final CountDownLatch drained = new CountDownLatch(1);
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("changes", stop, RETRY_POLICY, this::run, this::failed);

    /** Subscribers that the rounds serve; confined to the thread, and kept when a round fails. */
    private final List<Subscription> all = new ArrayList<>();

    /** The ring of the serving table; null before there was one. */
    private volatile @Nullable ChangeRing current;

    /** Whether the same table has an identity; nothing is replayed before there is a table. */
    private volatile BiPredicate<Puri, UUID> isThere = (puri, uuid) -> false;

    /** Why the last round failed; null when it did not. */
    private final FailureState trouble = new FailureState();

    private volatile boolean asleep;
    private volatile boolean ending;

    /** The result of a request to subscribe. */
    public enum Admission {
        /** The subscriber receives changes. */
        ADMITTED,
        /** No table has been complete yet. */
        NOT_READY,
        /** The number of subscribers has reached its limit. */
        TOO_MANY_STREAMS,
        /** The subscriber needs older changes, and the number of replays has reached its limit. */
        TOO_MANY_REPLAYS,
        /** The server is about to stop. */
        ENDING
    }

    private Subscribers(
            ChangesOptions options,
            ChangeLog changes,
            AvroValues<IdentityRow> values,
            InstantSource clock,
            MeterRegistry meters) {
        this.options = options;
        this.values = values;
        this.clock = clock;
        this.meters = meters;
        this.replays = new Replays(this, changes, options);
        this.sent = Counter.builder("puri.changes.sent")
                .description("Changes told, to each subscriber")
                .register(meters);
        for (String reason : List.of(SLOW, FAILED, REPLACED)) {
            dropped(reason);
        }
        Gauge.builder("puri.changes.streams", streams, AtomicInteger::get)
                .description("Subscribers to changes")
                .register(meters);
    }

    /**
     * Starts the thread; it admits nobody before there is a ring.
     *
     * @param consumers of committed records, for older changes
     * @param registry resolves schema ids; not closed
     */
    public static Subscribers start(
            ChangesOptions options,
            Supplier<Consumer<byte[], byte[]>> consumers,
            SchemaRegistry registry,
            InstantSource clock,
            MeterRegistry meters) {
        AvroValues<IdentityRow> values = new AvroValues<>(IdentityRow.class, registry);
        return start(options, new ChangeReplay(consumers, values), values, clock, meters);
    }

    static Subscribers start(
            ChangesOptions options,
            ChangeLog changes,
            AvroValues<IdentityRow> values,
            InstantSource clock,
            MeterRegistry meters) {
        Subscribers started = new Subscribers(options, changes, values, clock, meters);
        started.thread.start();
        return started;
    }

    private Counter dropped(String reason) {
        return Counter.builder("puri.changes.dropped")
                .description("Subscribers whose stream was ended, by reason")
                .tag("reason", reason)
                .register(meters);
    }

    /**
     * Creates the ring of a complete table, and moves all subscribers to it. Called by the thread that writes the
     * table, before the first live record. The caller must add every change from these offsets on.
     *
     * @param topicId of the topic that feeds the table
     * @param begins by partition, the offset after the last record that was written
     * @param completeAt a time at which the topic had no later records
     * @param isThere whether the table has an identity of a name and uuid; for any thread
     */
    public ChangeRing begin(Uuid topicId, long[] begins, Instant completeAt, BiPredicate<Puri, UUID> isThere) {
        ChangeRing ring = new ChangeRing(topicId, begins, completeAt, options.history(), values, this::wake);
        this.isThere = isThere;
        current = ring;
        wake();
        return ring;
    }

    /**
     * Admits a subscriber, or says why not. Does not wait.
     *
     * @param last the id of the last change that the subscriber has; null to begin now
     * @param open opens its stream; called once, on this thread, if and only if it is admitted. The stream must cancel
     *     the subscription when the subscriber goes
     */
    public Admission subscribe(@Nullable ChangeId last, ChangeFilter filter, Function<Subscription, Sink> open) {
        ChangeRing ring = current;
        if (ending) {
            return Admission.ENDING;
        }
        if (ring == null) {
            return Admission.NOT_READY;
        }
        if (streams.incrementAndGet() > options.maxStreams()) {
            streams.decrementAndGet();
            return Admission.TOO_MANY_STREAMS;
        }
        Subscription subscription = new Subscription(this, filter, options.pendingBytes(), ring, last);
        boolean replay = last != null && !isInRing(subscription, ring);
        if (replay && !replays.tryAcquire()) {
            subscription.cancel();
            return Admission.TOO_MANY_REPLAYS;
        }
        try {
            subscription.open(open.apply(subscription));
        } catch (RuntimeException e) {
            subscription.cancel();
            if (replay) {
                replays.release();
            }
            throw e;
        }
        if (replay) {
            replays.start(subscription);
        } else {
            arrive(subscription);
        }
        return Admission.ADMITTED;
    }

    /**
     * Whether the subscriber continues with the ring, from its last id or from the end; else the topic must be read.
     */
    boolean isInRing(Subscription subscription, ChangeRing ring) {
        switch (subscription.seek(ring, clock.instant(), options.forgotten())) {
            case RING -> {
                return true;
            }
            case OTHER_TOPIC -> subscription.reset(ring, "other-topic");
            case TOO_OLD -> subscription.reset(ring, "too-old");
            case REPLAY -> {
                return false;
            }
        }
        return true;
    }

    /** Lets the rounds serve a subscriber that continues with the ring. */
    void arrive(Subscription subscription) {
        arrivals.add(subscription);
        wake();
    }

    /** An exception of a sink or of a replay ends one stream; any other ends one round. */
    private void run() {
        long heartbeatAt = System.nanoTime() + options.heartbeat().toNanos();
        while (!stop.isAsked()) {
            takeArrivals();
            if (ending) {
                all.forEach(each -> endOne(each, STOPPING));
                all.clear();
                drained.countDown();
            }
            ChangeRing ring = current;
            long head = ring == null ? 0 : ring.head();
            if (ring != null) {
                ring.forgetOlderThan(options.maxAge(), clock.instant());
            }
            boolean beats = System.nanoTime() - heartbeatAt >= 0;
            long wait = round(ring, beats);
            trouble.clear();
            if (beats) {
                heartbeatAt = System.nanoTime() + options.heartbeat().toNanos();
            }
            sleep(Math.min(wait, heartbeatAt - System.nanoTime()), ring, head);
        }
        takeArrivals();
        all.forEach(each -> endOne(each, STOPPING));
        drained.countDown();
    }

    private void failed(Throwable cause) {
        if (trouble.changeTo(cause.toString())) {
            log.error("Subscribers receive no changes for now", cause);
        }
    }

    private void takeArrivals() {
        for (Subscription arrived = arrivals.poll(); arrived != null; arrived = arrivals.poll()) {
            all.add(arrived);
        }
    }

    /** Serves each subscriber once; returns how long the thread may sleep unless it is woken. */
    private long round(@Nullable ChangeRing ring, boolean beats) {
        long wait = Long.MAX_VALUE;
        List<Subscription> staying = new ArrayList<>(all.size());
        for (Subscription each : all) {
            try {
                if (ring != null && each.ring() != ring && !move(each, ring)) {
                    continue;
                }
                switch (each.send(SLICE)) {
                    case ALL -> {
                        if (beats && !each.sendId()) {
                            continue;
                        }
                    }
                    case MORE -> wait = 0;
                    case BLOCKED -> wait = Math.min(wait, BLOCKED_NANOS);
                    case OVERRUN -> {
                        drop(each, DROPPED, SLOW);
                        continue;
                    }
                    case GONE -> {
                        continue;
                    }
                }
                staying.add(each);
            } catch (RuntimeException | Error e) {
                log.error("A subscriber's stream is ended", e);
                endOne(each, FAILED);
            }
        }
        all.clear();
        all.addAll(staying);
        return wait;
    }

    /** Moves a subscriber to another ring; false when the rounds do not serve it any more. */
    private boolean move(Subscription each, ChangeRing ring) {
        if (isInRing(each, ring)) {
            return true;
        }
        if (replays.tryAcquire()) {
            replays.start(each);
        } else {
            // The subscriber connects again with its id, perhaps to another instance.
            drop(each, BYE, REPLACED);
        }
        return false;
    }

    void drop(Subscription each, String type, String reason) {
        dropped(reason).increment();
        each.end(type, reason);
    }

    void endOne(Subscription each, String reason) {
        try {
            each.end(BYE, reason);
        } catch (RuntimeException | Error e) {
            log.error("A subscriber's stream could not be ended", e);
        }
    }

    void countSent() {
        sent.increment();
    }

    /** Notes that a subscription has ended. */
    void ended() {
        streams.decrementAndGet();
    }

    private void sleep(long nanos, @Nullable ChangeRing ring, long head) {
        if (nanos <= 0) {
            return;
        }
        asleep = true;
        boolean isNews = !arrivals.isEmpty()
                || current != ring
                || (ring != null && ring.head() != head)
                || (ending && drained.getCount() > 0)
                || stop.isAsked();
        if (!isNews) {
            LockSupport.parkNanos(this, nanos);
        }
        asleep = false;
    }

    private void wake() {
        if (asleep) {
            asleep = false;
            thread.unpark();
        }
    }

    /** Why subscribers receive nothing now, for people; null when they do. */
    public @Nullable String trouble() {
        return trouble.reason();
    }

    /** The ring of the serving table; null before there was one. */
    @Nullable
    ChangeRing current() {
        return current;
    }

    /** Whether the serving table has an identity. */
    BiPredicate<Puri, UUID> isThere() {
        return isThere;
    }

    /** Whether all streams are being ended. */
    boolean isEnding() {
        return ending;
    }

    /** The number of subscribers. */
    int streams() {
        return streams.get();
    }

    /** Admits nobody any more and ends every stream with a {@code bye}; returns when the events are sent. */
    public void drain() {
        ending = true;
        wake();
        replays.interrupt();
        try {
            if (!drained.await(DRAIN_SECONDS, TimeUnit.SECONDS)) {
                log.warn("Streams of subscribers were not ended within {} s", DRAIN_SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        drain();
        stop.ask();
        thread.unpark();
        thread.join(STOP);
        replays.join(STOP);
    }
}
