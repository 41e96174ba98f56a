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
 * The most recent refusals, by position and by pURI, without those of erased identities. Thread-safe. A look-up holds a
 * lock only while it copies what it finds, so an event loop may do it.
 *
 * <p>A refusal and the row that answers the same event come from two topics. A reader that has the row waits a moment
 * for the refusal ({@link #soonAt}), which costs an entry in a map and no thread.
 */
public final class RefusalLog implements Refusals, FollowedTopic {
    private static final Logger log = LoggerFactory.getLogger(RefusalLog.class);

    private static final Deque<RejectedEvent> NONE = new ArrayDeque<>();

    /** Reasons that become a tag. Other texts in the topic must not create meters. */
    private static final List<String> KNOWN_REASONS =
            Arrays.stream(Reason.values()).map(Reason::name).toList();

    /** By the registry's clock; by position where the times are equal, since a set would merge equal elements. */
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

    /** The newest last: all refusals of a pURI are in one partition, so in the order of the log. */
    private final Map<Puri, Deque<RejectedEvent>> byPuri = new HashMap<>();

    /** Refusals that name the survivor of a merged identity, by that survivor. */
    private final Map<Puri, Deque<RejectedEvent>> bySurvivor = new HashMap<>();

    private final TreeSet<RejectedEvent> byTime = new TreeSet<>(BY_TIME);

    /** The times of recent erasures: refusals from before an erasure may be read after it. */
    private final RecentEntries<Puri, Instant> erasedAt;

    /** The last event of each name that has no row, as this topic says. */
    private final RecentEntries<Puri, Erasure> gone;

    /** Position and reason of refusals of erased pURIs, so that waits for their tokens are answered. */
    private final RecentEntries<Position, RejectedEvent> nameless;

    private final Map<Position, Set<Waiting>> awaited = new HashMap<>();
    private int awaiting;
    private volatile Listener listener = position -> {};

    /** A wait for the refusal at a position. */
    private static final class Waiting {
        private final CompletableFuture<Optional<RejectedEvent>> refusal = new CompletableFuture<>();
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
     * Starts to follow the topic; topic and brokers need not be there yet.
     *
     * @param registry resolves schema ids; not closed
     * @param history how many refusals are remembered
     * @param maxAge how long a refusal is remembered
     * @param maxAwaited how many waits there may be at a time
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

    @Override
    public Follower follower() {
        return follower;
    }

    /** The refusal of the event at that position, if it is remembered. */
    public synchronized Optional<RejectedEvent> find(Position position) {
        forgetTooOld();
        return Optional.ofNullable(byPosition.get(position));
    }

    @Override
    public synchronized @Nullable Position lastErasureOf(Puri puri) {
        Erasure erasure = gone.get(puri);
        // The table's reader reports later erasures, once it has read them; it may lag behind this one.
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
     * The refusal of an event that is known to be refused. Its record may not have been read yet.
     *
     * @return completed by the follower's thread or a timer's; with null after the timeout, or when there are too many
     *     waits
     */
    @Override
    public CompletionStage<@Nullable Refusal> soonAt(Position position, Duration timeout) {
        return await(position, timeout)
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
        return waiting.refusal
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

    /** How many waits there are now. */
    synchronized int awaiting() {
        return awaiting;
    }

    /**
     * Forgets the older refusals of an erased pURI, and those that name it as their survivor; also refusals that are
     * read later.
     */
    public synchronized void forgetErased(Puri puri, Instant at) {
        Instant before = erasedAt.get(puri);
        // Two topics report an erasure, in either order and more than once.
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
        // A refusal of the same millisecond may be of an event after the erasure.
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
        // Records are in the order of the log, so the last one read is the newest.
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
        // Continuations of the waits run here, so not under the lock.
        waiting.forEach(each -> each.refusal.complete(Optional.of(kept)));
        listener.onNews(refused.position());
        if (kept == refused && !refused.rejectedAt().isBefore(since)) {
            counters.getOrDefault(refused.reason(), otherReasons).increment();
        }
    }

    /** False when the position has a refusal already. */
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
                        "The record at {}-{}@{} is no rejection and is skipped: {}",
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
            listener.onNews(erasure.position());
        }
    }
}
