package dev.puri.tail;

import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.tail.AvroValues.UnreadableException;
import dev.puri.tail.wait.Refusals;
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
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last refusals, by position and by pURI, but those of erased identities. Thread-safe; a look takes a lock for as long as it takes
 * to copy what it finds, so it may be done on an event loop.
 *
 * <p>A refusal and the row that answers the same event come by two readers. Whoever has the row waits
 * a moment for the refusal ({@link #soonAt}), which costs an entry in a map and no thread.
 */
public final class RefusalLog implements Refusals, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(RefusalLog.class);

    private static final Deque<RejectedEvent> NONE = new ArrayDeque<>();

    /** Reasons that become a tag; a topic's text must not make meters. */
    private static final List<String> KNOWN_REASONS =
            Arrays.stream(Reason.values()).map(Reason::name).toList();

    /** By the registry's clock; then by anything, for two of one time are two. */
    private static final Comparator<RejectedEvent> BY_TIME = Comparator.comparing(RejectedEvent::rejectedAt)
            .thenComparing(refused -> refused.position().topic())
            .thenComparingInt(refused -> refused.position().partition())
            .thenComparingLong(refused -> refused.position().offset());

    private final int history;
    private final Duration maxAge;
    private final int maxAwaited;
    private final InstantSource clock;
    private final AvroValues<Rejection> values;
    private final Instant since;
    private final Map<String, Counter> counters = new HashMap<>();
    private final Counter otherReasons;
    private final Follower follower;

    private final Map<Position, RejectedEvent> byPosition = new HashMap<>();

    /** The newest last; those of one pURI come by one partition, so in the order of the log. */
    private final Map<Puri, Deque<RejectedEvent>> byPuri = new HashMap<>();

    /** Those of events that met a merged identity, by its survivor, which they name. */
    private final Map<Puri, Deque<RejectedEvent>> bySurvivor = new HashMap<>();

    private final TreeSet<RejectedEvent> byTime = new TreeSet<>(BY_TIME);

    /** The times of the last erasures: refusals from before may be read after them. */
    private final RecentEntries<Puri, Instant> erasedAt;

    /** The last event of each name that this topic tells to have no row. */
    private final RecentEntries<Puri, Erasure> gone;

    /** What is kept of refusals that were forgotten with an erased pURI, so that their tokens are answered; the oldest first. */
    private final RecentEntries<Position, RejectedEvent> nameless;

    private final Map<Position, Set<Waiting>> awaited = new HashMap<>();
    private int awaiting;
    private volatile Listener listener = position -> {};

    /** One who waits. */
    private static final class Waiting {
        private final CompletableFuture<Optional<RejectedEvent>> told = new CompletableFuture<>();
    }

    /**
     * @param follow begins to follow the topic with the given handler
     */
    RefusalLog(
            SchemaRegistry registry,
            int history,
            Duration maxAge,
            int maxAwaited,
            InstantSource clock,
            MeterRegistry meters,
            Function<TopicFollower.Handler, Follower> follow) {
        this.history = history;
        this.maxAge = maxAge;
        this.maxAwaited = maxAwaited;
        this.clock = clock;
        this.values = new AvroValues<>(Rejection.class, registry);
        this.since = clock.instant();
        this.erasedAt = new RecentEntries<>(history);
        this.gone = new RecentEntries<>(history);
        this.nameless = new RecentEntries<>(history);
        for (String reason : KNOWN_REASONS) {
            counters.put(reason, counter(reason, meters));
        }
        otherReasons = counter("OTHER", meters);
        this.follower = follow.apply(new RecordHandler());
    }

    /**
     * Begins to read; the topic and the brokers need not be there yet.
     *
     * @param registry of which schemas are asked; not closed
     * @param history how many refusals are remembered
     * @param maxAge and for how long
     * @param maxAwaited how many may be waited for at a time
     */
    public static RefusalLog start(
            Supplier<Consumer<byte[], byte[]>> consumers,
            SchemaRegistry registry,
            int history,
            Duration maxAge,
            int maxAwaited,
            InstantSource clock,
            MeterRegistry meters) {
        return new RefusalLog(
                registry,
                history,
                maxAge,
                maxAwaited,
                clock,
                meters,
                handler -> TopicFollower.start(Topics.REJECTIONS, history, consumers, handler, clock, meters));
    }

    private static Counter counter(String reason, MeterRegistry meters) {
        return Counter.builder("puri.rejections")
                .description("Events refused since this instance began, by reason")
                .tag("reason", reason)
                .register(meters);
    }

    /** Whether all was read that there was at the start; before, a refusal may be there and not be found. */
    public boolean hasCaughtUp() {
        return follower.hasCaughtUp();
    }

    /** How long ago it was known that no record was missing; null before it ever was. */
    public @Nullable Duration staleness() {
        return follower.staleness();
    }

    /** Why the topic is not followed, for people; null when it is. */
    public @Nullable String trouble() {
        return follower.trouble();
    }

    /** The refusal of the event at that position, if it is remembered. */
    public synchronized Optional<RejectedEvent> find(Position position) {
        forgetTooOld();
        return Optional.ofNullable(byPosition.get(position));
    }

    @Override
    public synchronized @Nullable Position lastErasureOf(Puri puri) {
        Erasure erasure = gone.get(puri);
        // The table's reader tells of those that came since, and it may be behind this one.
        return erasure == null || !erasure.at().isBefore(since) ? null : erasure.position();
    }

    @Override
    public void onNews(Listener listener) {
        this.listener = listener;
    }

    @Override
    public @Nullable Refusal at(Position position, @Nullable Puri puri) {
        return Optional.ofNullable(known(position))
                .filter(refused -> puri == null || refused.puri() == null || puri.equals(refused.puri()))
                .map(RejectedEvent::refusal)
                .orElse(null);
    }

    private synchronized @Nullable RejectedEvent known(Position position) {
        RejectedEvent named = byPosition.get(position);
        return named == null ? nameless.get(position) : named;
    }

    /**
     * The refusal of the event at that position, which is known to be refused and may not have been read
     * yet.
     *
     * @return completed by the reading thread, or a timer's; with null also when too many are waited for
     */
    @Override
    public CompletionStage<@Nullable Refusal> soonAt(Position position, Duration patience) {
        return await(position, patience)
                .thenApply(found -> found.map(RejectedEvent::refusal).orElse(null));
    }

    private CompletionStage<Optional<RejectedEvent>> await(Position position, Duration atMost) {
        Waiting waiting = new Waiting();
        synchronized (this) {
            RejectedEvent known = known(position);
            if (known != null || !atMost.isPositive() || awaiting >= maxAwaited) {
                return CompletableFuture.completedFuture(Optional.ofNullable(known));
            }
            awaited.computeIfAbsent(position, none -> new HashSet<>(1)).add(waiting);
            awaiting++;
        }
        return waiting.told
                .completeOnTimeout(Optional.empty(), atMost.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((found, failure) -> forget(position, waiting));
    }

    private synchronized void forget(Position position, Waiting waiting) {
        Set<Waiting> all = awaited.get(position);
        if (all != null && all.remove(waiting)) {
            awaiting--;
            if (all.isEmpty()) {
                awaited.remove(position);
            }
        }
    }

    /** The newest refusals, the newest first. */
    public synchronized List<RejectedEvent> latest(int limit) {
        forgetTooOld();
        return first(byTime.descendingIterator(), limit);
    }

    /** The newest refusals of a pURI, the newest first. */
    public synchronized List<RejectedEvent> of(Puri puri, int limit) {
        forgetTooOld();
        Deque<RejectedEvent> all = byPuri.get(puri);
        return all == null ? List.of() : first(all.descendingIterator(), limit);
    }

    private static List<RejectedEvent> first(Iterator<RejectedEvent> all, int limit) {
        List<RejectedEvent> found = new ArrayList<>();
        while (all.hasNext() && found.size() < limit) {
            found.add(all.next());
        }
        return found;
    }

    /** How many are waited for now. */
    synchronized int awaiting() {
        return awaiting;
    }

    /**
     * Forgets the refusals of a pURI that was erased, and of others that name it as their survivor, as far as they are older;
     * also those that are still to be read.
     */
    public synchronized void forgetErased(Puri puri, Instant at) {
        Instant before = erasedAt.get(puri);
        // Two topics tell of an erasure, in either order and more than once.
        erasedAt.put(puri, before == null || before.isBefore(at) ? at : before);
        for (Map<Puri, Deque<RejectedEvent>> index : List.of(byPuri, bySurvivor)) {
            List.copyOf(index.getOrDefault(puri, NONE)).stream()
                    .filter(this::isErased)
                    .forEach(refused -> {
                        drop(refused);
                        addNameless(refused.withoutNames());
                    });
        }
    }

    private boolean isErased(RejectedEvent refused) {
        return isErased(refused.puri(), refused) || isErased(refused.survivor(), refused);
    }

    private boolean isErased(@Nullable Puri puri, RejectedEvent refused) {
        Instant at = puri == null ? null : erasedAt.get(puri);
        // Those of the same millisecond may be of events after the erasure.
        return at != null && refused.rejectedAt().isBefore(at);
    }

    private synchronized void forgetTooOld() {
        Instant oldest = clock.instant().minus(maxAge);
        while (!byTime.isEmpty() && byTime.getFirst().rejectedAt().isBefore(oldest)) {
            drop(byTime.getFirst());
        }
        erasedAt.removeOldestWhile(at -> at.isBefore(oldest));
        gone.removeOldestWhile(erasure -> erasure.at().isBefore(oldest));
    }

    private synchronized void addGone(Erasure erasure) {
        // In the order of the log: the last that is read is the last that there is.
        gone.put(erasure.puri(), erasure);
    }

    void add(RejectedEvent refused) {
        RejectedEvent kept;
        List<Waiting> waiting;
        synchronized (this) {
            kept = isErased(refused) ? refused.withoutNames() : refused;
            if (!(kept == refused ? addNamed(refused) : addNameless(kept))) {
                return;
            }
            waiting = List.copyOf(awaited.getOrDefault(refused.position(), Set.of()));
        }
        // The waiters' continuations run here, so without the lock.
        waiting.forEach(each -> each.told.complete(Optional.of(kept)));
        listener.told(refused.position());
        if (kept == refused && !refused.rejectedAt().isBefore(since)) {
            counters.getOrDefault(refused.reason(), otherReasons).increment();
        }
    }

    /** False when it is there already. */
    private boolean addNamed(RejectedEvent refused) {
        if (byPosition.putIfAbsent(refused.position(), refused) != null) {
            return false;
        }
        byTime.add(refused);
        index(byPuri, refused.puri(), refused);
        index(bySurvivor, refused.survivor(), refused);
        if (byTime.size() > history) {
            drop(byTime.getFirst());
        }
        return true;
    }

    private boolean addNameless(RejectedEvent refused) {
        return nameless.putIfAbsent(refused.position(), refused);
    }

    private void drop(RejectedEvent oldest) {
        byTime.remove(oldest);
        byPosition.remove(oldest.position());
        unindex(byPuri, oldest.puri(), oldest);
        unindex(bySurvivor, oldest.survivor(), oldest);
    }

    private static void index(Map<Puri, Deque<RejectedEvent>> index, @Nullable Puri puri, RejectedEvent refused) {
        if (puri != null) {
            index.computeIfAbsent(puri, none -> new ArrayDeque<>(2)).add(refused);
        }
    }

    private static void unindex(Map<Puri, Deque<RejectedEvent>> index, @Nullable Puri puri, RejectedEvent refused) {
        Deque<RejectedEvent> all = puri == null ? null : index.get(puri);
        if (puri != null && all != null) {
            all.removeFirstOccurrence(refused);
            if (all.isEmpty()) {
                index.remove(puri);
            }
        }
    }

    private synchronized void clear() {
        byPosition.clear();
        byPuri.clear();
        bySurvivor.clear();
        byTime.clear();
        nameless.clear();
        gone.clear();
    }

    private final class RecordHandler implements TopicFollower.Handler {
        @Override
        public void reset() {
            clear();
        }

        @Override
        public void tick() {
            forgetTooOld();
        }

        @Override
        public void handle(ConsumerRecord<byte[], byte[]> record) {
            try {
                if (record.value() == null) {
                    takeErasure(record);
                } else {
                    add(RejectedEvent.of(values.read(record.value())));
                }
            } catch (UnreadableException | SerializationException | IllegalArgumentException e) {
                log.warn(
                        "The record at {}-{}@{} is no rejection and is passed over: {}",
                        record.topic(),
                        record.partition(),
                        record.offset(),
                        e.getMessage());
            }
        }

        private void takeErasure(ConsumerRecord<byte[], byte[]> record) {
            Erasure erasure = Erasure.of(RecordKey.puri(record.key()), record.headers());
            addGone(erasure);
            if (erasure.isApplied()) {
                forgetErased(erasure.puri(), erasure.at());
            }
            listener.told(erasure.position());
        }
    }

    /** Reads no more; what is known is still told. */
    @Override
    public void close() {
        follower.close();
    }
}
