package dev.puri.projection;

import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.wait.Refusals;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The most recent refusals, by position and by pURI; names of erased identities are removed. A {@link RejectedEvent} is
 * a record of the topic without the original event, and its {@link Refusal} is the part that requests with the event's
 * token get. Thread-safe. A look-up holds the lock only briefly, to remove expired refusals and to copy its result, so
 * an event loop may call it.
 *
 * <p>For a refused event, the registry writes the unchanged row to one topic and the refusal to another. A reader that
 * already has the row waits a moment for the refusal ({@link #awaitAt}). The wait takes a map entry and no thread.
 */
public final class RefusalLog implements Refusals, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RefusalLog.class);

    private static final Deque<RejectedEvent> NO_EVENTS = new ArrayDeque<>();

    /** Reasons that may become a tag. Other texts in the topic must not create meters. */
    private static final List<String> KNOWN_REASONS =
            Arrays.stream(Reason.values()).map(Reason::name).toList();

    /** Orders by the registry's time, then by position: the set must not merge refusals of the same time. */
    private static final Comparator<RejectedEvent> BY_TIME = Comparator.comparing(RejectedEvent::rejectedAt)
            .thenComparing(event -> event.position().topic())
            .thenComparingInt(event -> event.position().partition())
            .thenComparingLong(event -> event.position().offset());

    private final int maxRefusals;
    private final Duration maxAge;
    private final int maxWaits;
    private final InstantSource clock;
    private final AvroValueDecoder<Rejection> values;
    private final Instant startedAt;

    /** Earlier refusals are not counted: they are from before the start, or were counted before a reset. */
    private Instant countedSince;

    private @Nullable Instant newestCounted;

    private final Map<String, Counter> counters = new HashMap<>();
    private final Counter otherReasons;
    private final Follower follower;

    private final Map<Position, RejectedEvent> byPosition = new HashMap<>();

    /** The refusals of each pURI, the newest last: they are all in one partition, so they are read in order. */
    private final Map<Puri, Deque<RejectedEvent>> byPuri = new HashMap<>();

    /** The refusals that name the survivor of a merged identity, by survivor. */
    private final Map<Puri, Deque<RejectedEvent>> bySurvivor = new HashMap<>();

    private final TreeSet<RejectedEvent> byTime = new TreeSet<>(BY_TIME);

    /** The times of recent erasures. A refusal from before an erasure may be read after the erasure. */
    private final RecentEntries<Puri, Instant> erasedAt;

    /** By pURI, the last erasure that was read. A repeated erasure counts too. */
    private final RecentEntries<Puri, Erasure> lastErasures;

    /** The refusals of erased pURIs, without names. A request with the token of such an event still gets the reason. */
    private final RecentEntries<Position, RejectedEvent> anonymized;

    private final Map<Position, Set<Wait>> waits = new HashMap<>();
    private int waitCount;
    private volatile Listener listener = position -> {};

    /** A wait for the refusal at a position. Two waits are never equal. */
    private static final class Wait {
        private final CompletableFuture<Optional<RejectedEvent>> result = new CompletableFuture<>();
    }

    /**
     * @param follow starts a follower of the topic that passes the records to the given handler
     */
    RefusalLog(
            SchemaRegistry registry,
            int maxRefusals,
            Duration maxAge,
            int maxWaits,
            InstantSource clock,
            MeterRegistry meters,
            Function<TopicFollower.Handler, Follower> follow) {
        this.maxRefusals = maxRefusals;
        this.maxAge = maxAge;
        this.maxWaits = maxWaits;
        this.clock = clock;
        this.values = new AvroValueDecoder<>(Rejection.class, registry);
        this.startedAt = clock.instant();
        this.countedSince = startedAt;
        this.erasedAt = new RecentEntries<>(maxRefusals);
        this.lastErasures = new RecentEntries<>(maxRefusals);
        this.anonymized = new RecentEntries<>(maxRefusals);
        for (String reason : KNOWN_REASONS) {
            counters.put(reason, counter(reason, meters));
        }
        otherReasons = counter("OTHER", meters);
        this.follower = follow.apply(new RecordHandler());
    }

    /**
     * Starts to follow the topic. The topic may not exist yet, and the brokers may be unavailable.
     *
     * @param registry resolves schema ids; this class does not close it
     * @param maxRefusals the maximum number of refusals that are kept
     * @param maxAge how long a refusal is kept with its names; without names, only {@code maxRefusals} limits it
     * @param maxWaits the maximum number of concurrent waits
     */
    public static RefusalLog start(
            Supplier<Consumer<byte[], byte[]>> consumers,
            SchemaRegistry registry,
            int maxRefusals,
            Duration maxAge,
            int maxWaits,
            InstantSource clock,
            MeterRegistry meters) {
        return new RefusalLog(
                registry,
                maxRefusals,
                maxAge,
                maxWaits,
                clock,
                meters,
                handler -> TopicFollower.start(Topics.REJECTIONS, maxRefusals, consumers, handler, clock, meters));
    }

    private static Counter counter(String reason, MeterRegistry meters) {
        return Counter.builder("puri.rejections")
                .description("Events refused since this instance started, by reason; without those of erased objects")
                .tag("reason", reason)
                .register(meters);
    }

    /** Returns the follower that reads the topic. */
    public Follower follower() {
        return follower;
    }

    /** Stops reading the topic. Look-ups still find the records that were read. */
    @Override
    public void close() {
        follower.close();
    }

    /** Returns the refusal of the event at that position, if it is kept with its names. */
    public synchronized Optional<RejectedEvent> find(Position position) {
        removeExpired();
        return Optional.ofNullable(byPosition.get(position));
    }

    @Override
    public synchronized @Nullable Position lastEventWithoutRow(Puri puri) {
        Erasure erasure = lastErasures.get(puri);
        // Only an erasure from before the start. The feed of the table reports later erasures when look-ups see them
        // there; this follower may be ahead of the feed.
        return erasure == null || !erasure.at().isBefore(startedAt) ? null : erasure.position();
    }

    @Override
    public void setListener(Listener listener) {
        this.listener = listener;
    }

    @Override
    public @Nullable Refusal at(Position position, @Nullable Puri puri) {
        return Optional.ofNullable(lookUp(position))
                .filter(event -> puri == null || event.puri() == null || puri.equals(event.puri()))
                .map(RejectedEvent::refusal)
                .orElse(null);
    }

    private synchronized @Nullable RejectedEvent lookUp(Position position) {
        RejectedEvent event = byPosition.get(position);
        return event == null ? anonymized.get(position) : event;
    }

    /**
     * Waits for the refusal of an event that is known to be refused. Its record may not have been read yet.
     *
     * @return completed by the follower's thread or a timer's; with null after the timeout, or if there are too many
     *     waits
     */
    @Override
    public CompletionStage<@Nullable Refusal> awaitAt(Position position, Duration timeout) {
        return awaitRefusal(position, timeout)
                .thenApply(result -> result.map(RejectedEvent::refusal).orElse(null));
    }

    private CompletionStage<Optional<RejectedEvent>> awaitRefusal(Position position, Duration timeout) {
        Wait wait = new Wait();
        synchronized (this) {
            RejectedEvent event = lookUp(position);
            if (event != null || !timeout.isPositive() || waitCount >= maxWaits) {
                return CompletableFuture.completedFuture(Optional.ofNullable(event));
            }
            waits.computeIfAbsent(position, missing -> new HashSet<>(1)).add(wait);
            waitCount++;
        }
        return wait.result
                .completeOnTimeout(Optional.empty(), timeout.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((result, failure) -> removeWait(position, wait));
    }

    private synchronized void removeWait(Position position, Wait wait) {
        Set<Wait> waitsAtPosition = waits.get(position);
        if (waitsAtPosition != null && waitsAtPosition.remove(wait)) {
            waitCount--;
            if (waitsAtPosition.isEmpty()) {
                waits.remove(position);
            }
        }
    }

    /** Returns the newest refusals, the newest first. */
    public synchronized List<RejectedEvent> latest(int limit) {
        removeExpired();
        return take(byTime.descendingIterator(), limit);
    }

    /** Returns the newest refusals of a pURI, the newest first. */
    public synchronized List<RejectedEvent> latestOf(Puri puri, int limit) {
        removeExpired();
        Deque<RejectedEvent> events = byPuri.get(puri);
        return events == null ? List.of() : take(events.descendingIterator(), limit);
    }

    private static List<RejectedEvent> take(Iterator<RejectedEvent> events, int limit) {
        List<RejectedEvent> taken = new ArrayList<>();
        while (events.hasNext() && taken.size() < limit) {
            taken.add(events.next());
        }
        return taken;
    }

    /** Returns the number of waits. */
    synchronized int waitCount() {
        return waitCount;
    }

    /**
     * Removes the names from all refusals that precede the erasure of a pURI and have it as their pURI or survivor.
     * This also applies to refusals that are read later.
     */
    public synchronized void forgetErased(Puri puri, Instant at) {
        Instant previous = erasedAt.get(puri);
        // Two topics report an erasure, in any order and more than once.
        erasedAt.put(puri, previous == null || previous.isBefore(at) ? at : previous);
        for (Map<Puri, Deque<RejectedEvent>> index : List.of(byPuri, bySurvivor)) {
            List.copyOf(index.getOrDefault(puri, NO_EVENTS)).stream()
                    .filter(this::isErased)
                    .forEach(event -> {
                        remove(event);
                        addAnonymized(event.withoutNames());
                    });
        }
    }

    /** Returns whether an identity that the refusal names was erased after the refusal. */
    private boolean isErased(RejectedEvent event) {
        return isErasedAfter(event.puri(), event) || isErasedAfter(event.survivor(), event);
    }

    private boolean isErasedAfter(@Nullable Puri puri, RejectedEvent event) {
        Instant at = puri == null ? null : erasedAt.get(puri);
        // A refusal of the same millisecond may be of an event after the erasure.
        return at != null && event.rejectedAt().isBefore(at);
    }

    private synchronized void removeExpired() {
        Instant oldest = clock.instant().minus(maxAge);
        while (!byTime.isEmpty() && byTime.getFirst().rejectedAt().isBefore(oldest)) {
            remove(byTime.getFirst());
        }
        erasedAt.removeOldestWhile(at -> at.isBefore(oldest));
        lastErasures.removeOldestWhile(erasure -> erasure.at().isBefore(oldest));
    }

    private synchronized void putErasure(Erasure erasure) {
        // All records of a pURI are in one partition, so the record that was read last is the newest.
        lastErasures.put(erasure.puri(), erasure);
    }

    void add(RejectedEvent event) {
        RejectedEvent stored;
        List<Wait> waitsAtPosition;
        synchronized (this) {
            stored = isErased(event) ? event.withoutNames() : event;
            if (!(stored == event ? addNamed(event) : addAnonymized(stored))) {
                return;
            }
            waitsAtPosition = List.copyOf(waits.getOrDefault(event.position(), Set.of()));
        }
        // Outside the lock, because it runs the continuations of the waits.
        waitsAtPosition.forEach(wait -> wait.result.complete(Optional.of(stored)));
        listener.onOutcome(event.position());
        if (stored == event) {
            count(event);
        }
    }

    private synchronized void count(RejectedEvent event) {
        if (event.rejectedAt().isBefore(countedSince)) {
            return;
        }
        counters.getOrDefault(event.reason(), otherReasons).increment();
        if (newestCounted == null || newestCounted.isBefore(event.rejectedAt())) {
            newestCounted = event.rejectedAt();
        }
    }

    /** Returns false if the position already has a refusal. */
    private boolean addNamed(RejectedEvent event) {
        if (byPosition.putIfAbsent(event.position(), event) != null) {
            return false;
        }
        byTime.add(event);
        addToIndex(byPuri, event.puri(), event);
        addToIndex(bySurvivor, event.survivor(), event);
        if (byTime.size() > maxRefusals) {
            remove(byTime.getFirst());
        }
        return true;
    }

    private boolean addAnonymized(RejectedEvent event) {
        return anonymized.putIfAbsent(event.position(), event);
    }

    private void remove(RejectedEvent event) {
        byTime.remove(event);
        byPosition.remove(event.position());
        removeFromIndex(byPuri, event.puri(), event);
        removeFromIndex(bySurvivor, event.survivor(), event);
    }

    private static void addToIndex(Map<Puri, Deque<RejectedEvent>> index, @Nullable Puri puri, RejectedEvent event) {
        if (puri != null) {
            index.computeIfAbsent(puri, missing -> new ArrayDeque<>(2)).add(event);
        }
    }

    private static void removeFromIndex(
            Map<Puri, Deque<RejectedEvent>> index, @Nullable Puri puri, RejectedEvent event) {
        Deque<RejectedEvent> events = puri == null ? null : index.get(puri);
        if (puri != null && events != null) {
            events.removeFirstOccurrence(event);
            if (events.isEmpty()) {
                index.remove(puri);
            }
        }
    }

    /** Keeps erasedAt: the other topic may report an erasure only once, and refusals are read again. */
    private synchronized void clear() {
        byPosition.clear();
        byPuri.clear();
        bySurvivor.clear();
        byTime.clear();
        anonymized.clear();
        lastErasures.clear();
    }

    /** The follower reads the topic again. Times have milliseconds. */
    private synchronized void skipCounted() {
        if (newestCounted != null) {
            countedSince = newestCounted.plusMillis(1);
        }
    }

    private final class RecordHandler implements TopicFollower.Handler {
        @Override
        public void reset() {
            clear();
            skipCounted();
        }

        @Override
        public void tick() {
            removeExpired();
        }

        @Override
        public void handle(ConsumerRecord<byte[], byte[]> record) {
            try {
                if (record.value() == null) {
                    handleErasure(record);
                } else {
                    add(RejectedEvent.of(values.read(record.value())));
                }
            } catch (UnreadableException | IllegalArgumentException e) {
                log.warn(
                        "The record at {}-{}@{} is not a valid rejection and is skipped: {}",
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        e.getMessage());
            }
        }

        private void handleErasure(ConsumerRecord<byte[], byte[]> record) {
            Erasure erasure = Erasure.of(RecordKey.puri(record.key()), record.headers());
            putErasure(erasure);
            if (erasure.isApplied()) {
                forgetErased(erasure.puri(), erasure.at());
            }
            listener.onOutcome(erasure.position());
        }
    }
}
