package dev.puri.search;

import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.Moment;
import dev.puri.tail.wait.Answer;
import dev.puri.tail.wait.Answers;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Both topics into one index, a step at a time:
 *
 * <pre>
 * poll ─▶ decode ─▶ apply ─▶ refresh, when due: readers see it, those who wait are told
 *  ▲        │            └──▶ commit, when due: kept, with how far it goes
 *  └────────┴─── brokers or schema registry away: the same again, after a pause
 * </pre>
 *
 * One batch is in hand at a time, and nothing is read before it was taken: that is the bound, and why nothing
 * is lost. When the engine is away, what it kept is where the next feed begins. Steps never wait longer than they are told to, but for the engine's own bounds. Used by one
 * thread; what others may ask says so.
 */
final class Feed implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Feed.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final Duration CLOSE = Duration.ofMillis(200);

    /** While more is there than can be taken at once, a refresh costs more than it tells. */
    private static final Duration REFRESH_WHEN_BEHIND = Duration.ofSeconds(1);

    /** A crash while an index is filled costs as much reading; each commit costs the writer more. */
    private static final Duration COMMIT_WHILE_FILLED = Duration.ofSeconds(30);

    /** Even where nothing changes: an index is trusted only while tombstones are kept. */
    private static final Duration LONGEST_UNCOMMITTED = Duration.ofMinutes(10);

    /** A batch that is longer leaves more behind. */
    static final int FULL_BATCH = 500;

    private final SearchIndex index;
    private final Map<EntryKind, String> topicIds = new EnumMap<>(EntryKind.class);
    private final Tools tools;
    private final Heard heard = new Heard();

    /** Of what was taken and cannot be seen yet, what is to be told then: the newest. */
    private final Deque<ChangeReader.Read> untold = new ArrayDeque<>();

    private @Nullable Consumer<byte[], byte[]> consumer;
    private @Nullable Batch batch;
    private long oldestUnseen = Long.MAX_VALUE;
    private boolean lastWasFull;
    private boolean unseen;
    private boolean uncommitted;
    private long refreshedAt = System.nanoTime();
    private long committedAt = System.nanoTime();
    private long tryAgainAt = System.nanoTime();
    private Duration pause = FIRST_PAUSE;

    /** What readers are to see before the index is as of when that was sighted; null when they do. */
    private @Nullable Sighting awaited;

    private @Nullable Sighting sighted;
    private boolean isPurging;
    private @Nullable Instant owedSincePurge;

    private volatile Places taken;
    private volatile Places seen;
    private volatile boolean complete;
    private volatile Moment asOf;
    private volatile @Nullable Instant owedSince;
    private volatile @Nullable String trouble;
    private volatile long records;

    /**
     * What every feed needs.
     *
     * @param consumers of no group, that see committed records only
     * @param refreshInterval how long what was taken may be invisible
     * @param commitInterval how long it may be uncommitted
     */
    record Tools(
            Supplier<Consumer<byte[], byte[]>> consumers,
            ChangeReader reader,
            Answers answers,
            Waiters waiters,
            Duration refreshInterval,
            Duration commitInterval,
            InstantSource clock,
            IndexMeters meters) {}

    /** What was polled, how much of it is decoded, and where the reader is when it was taken. */
    private static final class Batch {
        private final Iterator<ConsumerRecord<byte[], byte[]>> records;
        private final Places after;
        private final long polledAt = System.nanoTime();
        private final List<ChangeReader.Read> read = new ArrayList<>();
        private long oldest = Long.MAX_VALUE;
        private @Nullable ConsumerRecord<byte[], byte[]> undecoded;

        Batch(Iterable<ConsumerRecord<byte[], byte[]>> records, Places after) {
            this.records = records.iterator();
            this.after = after;
        }

        /** Goes on where it could not the last time. */
        void decode(ChangeReader reader) {
            while (undecoded != null || records.hasNext()) {
                ConsumerRecord<byte[], byte[]> next = undecoded == null ? records.next() : undecoded;
                undecoded = next;
                ChangeReader.Read change = reader.read(next, polledAt);
                if (change != null) {
                    read.add(change);
                    oldest = Math.min(oldest, next.timestamp());
                }
                undecoded = null;
            }
        }
    }

    /** The topic has no such place any more: the index cannot be gone on with. */
    static final class PlaceGoneException extends Exception {
        private static final long serialVersionUID = 1L;

        PlaceGoneException(OffsetOutOfRangeException cause) {
            super("a part of the topics was deleted before it was read", cause);
        }
    }

    /**
     * @param reached how far the index goes, which fits what was sighted
     */
    Feed(SearchIndex index, IndexCheckpoint reached, Sighting sighting, Tools tools) {
        this.index = index;
        this.tools = tools;
        for (EntryKind kind : EntryKind.values()) {
            topicIds.put(kind, sighting.of(kind).id().toString());
        }
        taken = Places.of(reached, sighting);
        seen = taken;
        complete = reached.complete();
        owedSince = reached.owedSince();
        boolean isNew = reached.topicIds().isEmpty();
        Instant wall = isNew ? sighting.at().wall() : reached.asOf();
        long agoNanos =
                Math.max(0, Duration.between(wall, tools.clock().instant()).toNanos());
        asOf = new Moment(System.nanoTime() - agoNanos, wall);
        uncommitted = isNew;
    }

    /**
     * Reads once, and refreshes and commits when that is due.
     *
     * @param patience how long to wait for records
     * @return false when there was nothing to do, or it could not be done
     * @throws IndexUnavailableException when the index has to be opened anew and read on from its last commit
     */
    boolean step(Duration patience) throws PlaceGoneException, IndexUnavailableException {
        if (System.nanoTime() - tryAgainAt < 0) {
            return false;
        }
        try {
            Batch inHand = batch;
            if (inHand == null) {
                inHand = poll(patience);
            }
            boolean read = inHand != null;
            if (inHand != null) {
                batch = inHand;
                take(inHand);
                batch = null;
            }
            if (isRefreshDue()) {
                refresh();
            }
            if (isCommitDue()) {
                commit();
            }
            pause = FIRST_PAUSE;
            trouble = null;
            return read;
        } catch (RegistryUnavailableException e) {
            inTrouble("the schema registry is waited for: " + e.getMessage());
        } catch (DeclaredAttributes.UnknownException e) {
            // Not a failure: the declarations are read to their end every second or so.
            trouble = "the declared collections are waited for: " + e.getMessage();
            tryAgainAt = System.nanoTime() + FIRST_PAUSE.toNanos();
        } catch (OffsetOutOfRangeException e) {
            throw new PlaceGoneException(e);
        } catch (KafkaException e) {
            disconnect();
            inTrouble("the brokers are waited for: " + e.getMessage());
        }
        return false;
    }

    private void inTrouble(String what) {
        tools.meters().retried();
        if (!what.equals(trouble)) {
            log.warn("The index waits: {}", what);
        }
        trouble = what;
        tryAgainAt = System.nanoTime() + pause.toNanos();
        pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause.multipliedBy(2);
    }

    /** How long until it is worth while to step again. */
    Duration rest() {
        return Duration.ofNanos(Math.max(0, tryAgainAt - System.nanoTime()));
    }

    private @Nullable Batch poll(Duration patience) {
        Consumer<byte[], byte[]> from = consumer;
        if (from == null) {
            from = tools.consumers().get();
            consumer = from;
            from.assign(taken.next().keySet());
            taken.next().forEach(from::seek);
        }
        Duration untilRefresh = Duration.ofNanos(
                Math.max(0, refreshedAt + tools.refreshInterval().toNanos() - System.nanoTime()));
        var polled = from.poll(unseen && untilRefresh.compareTo(patience) < 0 ? untilRefresh : patience);
        lastWasFull = polled.count() >= FULL_BATCH;
        // Transaction markers take offsets too.
        Map<TopicPartition, Long> after = new HashMap<>();
        for (TopicPartition partition : taken.next().keySet()) {
            after.put(partition, from.position(partition));
        }
        if (after.equals(taken.next())) {
            return null;
        }
        return new Batch(polled, new Places(after));
    }

    private void take(Batch inHand) throws IndexUnavailableException {
        inHand.decode(tools.reader());
        if (!inHand.read.isEmpty()) {
            rowsCome(inHand.read);
            oweFor(inHand.read);
            index.apply(inHand.read.stream().map(ChangeReader.Read::change).toList());
            unseen = true;
            oldestUnseen = Math.min(oldestUnseen, inHand.oldest);
            inHand.read.forEach(this::taken);
            tools.meters().taken(inHand.read);
            records += inHand.read.size();
        }
        taken = inHand.after;
        uncommitted = true;
        if (!unseen) {
            // Markers and what is not ours: there is nothing more to be seen.
            see();
        }
    }

    /** To be told before the index has them: an engine may show them sooner than it is asked to. */
    private void rowsCome(List<ChangeReader.Read> read) {
        if (!complete) {
            heard.manyCome();
            return;
        }
        for (ChangeReader.Read each : read) {
            if (each.change().kind() == EntryKind.IDENTITY) {
                heard.comes(each.change().puri());
            }
        }
    }

    private void see() {
        seen = taken;
        if (tools.waiters().isAnybodyThere()) {
            tools.waiters().wakeNameless();
        }
    }

    private void taken(ChangeReader.Read read) {
        if (read.change().kind() == EntryKind.IDENTITY) {
            untold.add(read);
            if (untold.size() > Heard.MOST) {
                untold.removeFirst();
            }
        }
    }

    /** To be called before the index has them, as it is asked what it has. */
    private void oweFor(List<ChangeReader.Read> reads) throws IndexUnavailableException {
        boolean isOwed = isPurging ? owedSincePurge != null : owedSince != null;
        for (ChangeReader.Read read : isOwed ? List.<ChangeReader.Read>of() : reads) {
            if (mayStandInFiles(read)) {
                Instant now = tools.clock().instant();
                owedSince = owedSince == null ? now : owedSince;
                owedSincePurge = isPurging ? now : null;
                return;
            }
        }
    }

    /**
     * Whether the entry that is removed may be in files. Of a name that was there it is. What is refused of a name that
     * nobody has is answered with a tombstone too, which would let anybody have everything rewritten; but it may
     * also be what compaction has left of an erased name.
     */
    private boolean mayStandInFiles(ChangeReader.Read read) throws IndexUnavailableException {
        IndexChange change = read.change();
        Answer answer = read.answer();
        if (change.entry() != null || Topics.isMarker(change.puri())) {
            return false;
        }
        boolean nothingHappened = answer != null && answer.outcome().kind() != Outcome.Kind.APPLIED;
        // Before it is complete nobody can see what it has taken.
        return !nothingHappened || !complete || index.entry(change.kind(), change.puri()) != null;
    }

    private boolean isRefreshDue() {
        if (!unseen) {
            return false;
        }
        if (!complete) {
            // Nobody reads it before it has all.
            Sighting end = awaited;
            return end != null && end.behind(taken) == 0;
        }
        Duration interval = lastWasFull && tools.refreshInterval().compareTo(REFRESH_WHEN_BEHIND) < 0
                ? REFRESH_WHEN_BEHIND
                : tools.refreshInterval();
        return System.nanoTime() - refreshedAt >= interval.toNanos();
    }

    /** Lets readers see what was taken, and tells those who wait. */
    void refresh() throws IndexUnavailableException {
        if (!unseen) {
            return;
        }
        long begun = System.nanoTime();
        index.refresh();
        refreshedAt = System.nanoTime();
        tools.meters().refreshes().record(refreshedAt - begun, TimeUnit.NANOSECONDS);
        if (complete) {
            tools.meters()
                    .freshness()
                    .record(Math.max(0, tools.clock().millis() - oldestUnseen), TimeUnit.MILLISECONDS);
        }
        unseen = false;
        oldestUnseen = Long.MAX_VALUE;
        tell();
        see();
    }

    private void tell() {
        List<ChangeReader.Read> all = List.copyOf(untold);
        untold.clear();
        all.forEach(this::hear);
        if (tools.waiters().isAnybodyThere()) {
            all.forEach(each -> tools.waiters().wake(each.change().puri()));
        }
    }

    private void hear(ChangeReader.Read read) {
        IndexChange change = read.change();
        Answer answer = read.answer();
        if (change.entry() instanceof Entry.OfIdentity entry) {
            Row row = entry.row();
            heard.row(change.puri(), row.position(), row.handle());
        } else {
            heard.gone(change.puri());
            if (answer != null && answer.outcome().kind() == Outcome.Kind.APPLIED) {
                tools.answers().erased(change.puri(), answer.position(), read.at());
            } else if (answer != null) {
                tools.answers().noRow(change.puri(), answer.position());
            }
        }
        if (answer != null) {
            tools.answers().answered(change.puri(), answer.position());
        }
        if (answer != null && answer.outcome().reason() != null) {
            tools.answers()
                    .refused(change.puri(), answer.position(), answer.outcome().reason());
        }
    }

    private boolean isCommitDue() {
        Duration since = Duration.ofNanos(System.nanoTime() - committedAt);
        if (!uncommitted) {
            return since.compareTo(LONGEST_UNCOMMITTED) > 0;
        }
        Duration interval = complete || tools.commitInterval().compareTo(COMMIT_WHILE_FILLED) > 0
                ? tools.commitInterval()
                : COMMIT_WHILE_FILLED;
        return since.compareTo(interval) > 0;
    }

    /** Keeps what was taken. */
    void commit() throws IndexUnavailableException {
        long begun = System.nanoTime();
        index.commit(reached());
        uncommitted = false;
        committedAt = System.nanoTime();
        tools.meters().commits().record(committedAt - begun, TimeUnit.NANOSECONDS);
    }

    private IndexCheckpoint reached() {
        return new IndexCheckpoint(topicIds, taken.byKind(), asOf.wall(), complete, owedSince);
    }

    /** The topics as they were at a moment, which the index may be behind. */
    void sighted(Sighting now) {
        if (sighted != now && awaited == null) {
            sighted = now;
            awaited = now;
        }
        Sighting end = awaited;
        if (end != null && end.behind(seen) == 0) {
            awaited = null;
            asOf = end.at();
            uncommitted |= !complete;
            complete = true;
        }
    }

    /** Why this index cannot be gone on with; null when it can. */
    @Nullable
    String misfit(Sighting now, Duration trusted) {
        if (asOf.age(tools.clock()).compareTo(trusted) > 0) {
            return "the index was cut off since " + asOf.wall() + " and may have missed what was erased";
        }
        for (EntryKind kind : EntryKind.values()) {
            if (!now.of(kind).id().toString().equals(topicIds.get(kind))
                    || !now.of(kind)
                            .ends()
                            .keySet()
                            .equals(taken.byKind().getOrDefault(kind, Map.of()).keySet())) {
                return kind.topic() + " was made anew, or has other partitions than before";
            }
        }
        return null;
    }

    /** Whether it has taken all that another lets readers see. */
    boolean hasTakenAllOf(Feed other) {
        return taken.hasReached(other.seen);
    }

    SearchIndex index() {
        return index;
    }

    /** What was heard of names; thread-safe. */
    Heard heard() {
        return heard;
    }

    /** What readers see of the topics; for any thread. */
    Places seen() {
        return seen;
    }

    /** What the index has taken of the topics, seen or not; for any thread. */
    Places taken() {
        return taken;
    }

    /** Whether it had all once; for any thread. */
    boolean isComplete() {
        return complete;
    }

    /** The last moment of which it is known that readers see all; for any thread. */
    Moment asOf() {
        return asOf;
    }

    /** What is waited for, for people; null when nothing is. For any thread. */
    @Nullable
    String trouble() {
        return trouble;
    }

    /** Changes taken in this life; for any thread. */
    long records() {
        return records;
    }

    /** Since when something that was erased may stand in files; null when nothing does. */
    @Nullable
    Instant owedSince() {
        return owedSince;
    }

    /** What is erased from here on is another purge's. */
    void purgeBegins() {
        isPurging = true;
        owedSincePurge = null;
    }

    /** Nothing stands in files any more of what was erased before the purge began, if it succeeded. */
    void purgeEnds(boolean succeeded) {
        isPurging = false;
        if (succeeded) {
            owedSince = owedSincePurge;
            uncommitted = true;
        }
    }

    /** Reads no more, but keeps the index open; to be called where it is not gone on with. */
    void disconnect() {
        Consumer<byte[], byte[]> open = consumer;
        consumer = null;
        if (open != null) {
            // Closing asks nothing of the brokers here, but would not go through with the flag up.
            boolean interrupted = Thread.interrupted();
            open.close(CloseOptions.timeout(CLOSE));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Keeps what was taken, if the engine lets it, and reads no more. */
    @Override
    public void close() {
        disconnect();
        if (uncommitted) {
            try {
                commit();
            } catch (IndexUnavailableException e) {
                log.warn("The last commit was not taken, what came since is read again: {}", e.getMessage());
            }
        }
    }
}
