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
import dev.puri.tail.Backoff;
import dev.puri.tail.FailureState;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.TopicEnds;
import dev.puri.tail.wait.EventOutcome;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds the records of both topics into one index, a step at a time:
 *
 * <pre>
 * poll ─▶ decode ─▶ apply ─▶ refresh, when due: readers see the changes, waits are woken
 *  ▲        │            └──▶ commit, when due: the engine keeps the changes and the checkpoint
 *  └────────┴─── brokers or schema registry away: back off, then the same batch again
 * </pre>
 *
 * It holds one batch at a time and polls the next one only after the index has taken it. So its memory is bounded, and
 * no record is lost. When the engine fails, the next feeder begins at the last commit. A step waits at most as long as
 * its caller allows, and as long as the engine takes. Used by one thread; methods for other threads say so.
 */
final class IndexFeeder implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(IndexFeeder.class);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(100), Duration.ofSeconds(5));

    /** While the index lags, more frequent refreshes cost more than their freshness is worth. */
    private static final Duration REFRESH_WHEN_BEHIND = Duration.ofSeconds(1);

    /** After a crash, a filling index reads again what came since; more frequent commits would cost more than that. */
    private static final Duration COMMIT_WHILE_FILLED = Duration.ofSeconds(30);

    /** Commits are due even if nothing changes: an index is trusted only while the brokers keep tombstones. */
    private static final Duration LONGEST_UNCOMMITTED = Duration.ofMinutes(10);

    private final SearchIndex index;
    private final Map<EntryKind, String> topicIds = new EnumMap<>(EntryKind.class);
    private final Tools tools;
    private final BatchReader batches;
    private final RecentRows recentRows = new RecentRows();
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    /** The newest changes that the index has taken and readers cannot see yet. Waits are woken after the refresh. */
    private final Deque<ChangeReader.Read> invisible = new ArrayDeque<>();

    private long oldestUnseen = Long.MAX_VALUE;
    private boolean unseen;
    private boolean uncommitted;
    private long refreshedAt = System.nanoTime();
    private long committedAt = System.nanoTime();

    /**
     * End offsets that readers must reach before the index is as of their time; null when readers have reached the
     * last.
     */
    private @Nullable SourceOffsets awaited;

    private @Nullable SourceOffsets lastObserved;
    private boolean isPurging;
    private @Nullable Instant owedSincePurge;

    private volatile NextOffsets taken;
    private volatile NextOffsets seen;
    private volatile boolean complete;
    private volatile ObservationTime asOf;
    private volatile @Nullable Instant owedSince;
    private final FailureState trouble = new FailureState();
    private volatile long records;

    /**
     * What every feeder needs.
     *
     * @param consumers of no group, that see committed records only
     * @param refreshInterval how long a change may be invisible to readers
     * @param commitInterval how long a change may be uncommitted
     */
    record Tools(
            Supplier<Consumer<byte[], byte[]>> consumers,
            ChangeReader reader,
            OutcomeCache outcomes,
            Waiters waiters,
            Duration refreshInterval,
            Duration commitInterval,
            InstantSource clock,
            IndexMeters meters) {}

    /** The brokers do not have the next offset any more: the index has to be rebuilt. */
    static final class OffsetGoneException extends Exception {
        private static final long serialVersionUID = 1L;

        OffsetGoneException(OffsetOutOfRangeException cause) {
            super("a part of the topics was deleted before it was read", cause);
        }
    }

    /**
     * @param reached the checkpoint of the index, which fits the source
     */
    IndexFeeder(SearchIndex index, IndexCheckpoint reached, SourceOffsets source, Tools tools) {
        this.index = index;
        this.tools = tools;
        this.batches = new BatchReader(tools.consumers(), tools.reader()::read);
        for (EntryKind kind : EntryKind.values()) {
            topicIds.put(kind, source.endsOf(kind).topicId().toString());
        }
        taken = NextOffsets.of(reached, source);
        seen = taken;
        complete = reached.complete();
        owedSince = reached.owedSince();
        boolean isNew = reached.topicIds().isEmpty();
        Instant wall = isNew ? source.at().wall() : reached.asOf();
        long agoNanos =
                Math.max(0, Duration.between(wall, tools.clock().instant()).toNanos());
        asOf = new ObservationTime(System.nanoTime() - agoNanos, wall);
        uncommitted = isNew;
    }

    /**
     * Reads once, and refreshes and commits when that is due.
     *
     * @param timeout how long to wait for records
     * @return false when there was nothing to do, or it failed
     * @throws IndexUnavailableException when the index has to be opened again, and fed from its last commit
     */
    boolean step(Duration timeout) throws OffsetGoneException, IndexUnavailableException {
        if (!backoff.isDue()) {
            return false;
        }
        try {
            BatchReader.Batch batch = batches.next(taken, pollTimeout(timeout));
            if (batch != null) {
                take(batch);
                batches.taken();
            }
            if (isRefreshDue()) {
                refresh();
            }
            if (isCommitDue()) {
                commit();
            }
            backoff.reset();
            trouble.clear();
            return batch != null;
        } catch (RegistryUnavailableException e) {
            inTrouble("the schema registry is waited for: " + e.getMessage());
        } catch (DeclaredAttributes.UnknownException e) {
            // No failure: the declarations are usually read to their end within a second.
            trouble.changeTo("the declared collections are waited for: " + e.getMessage());
            backoff.delayBriefly();
        } catch (OffsetOutOfRangeException e) {
            throw new OffsetGoneException(e);
        } catch (KafkaException e) {
            disconnect();
            inTrouble("the brokers are waited for: " + e.getMessage());
        }
        return false;
    }

    private void inTrouble(String what) {
        tools.meters().retried();
        if (trouble.changeTo(what)) {
            log.warn("The index waits: {}", what);
        }
        backoff.delay();
    }

    /** How long until the next step can do something. */
    Duration rest() {
        return backoff.untilDue();
    }

    private Duration pollTimeout(Duration longest) {
        Duration untilRefresh = Duration.ofNanos(
                Math.max(0, refreshedAt + tools.refreshInterval().toNanos() - System.nanoTime()));
        return unseen && untilRefresh.compareTo(longest) < 0 ? untilRefresh : longest;
    }

    private void take(BatchReader.Batch batch) throws IndexUnavailableException {
        List<ChangeReader.Read> changes = batch.changes();
        if (!changes.isEmpty()) {
            aboutToApply(changes);
            oweFor(changes);
            index.apply(changes.stream().map(ChangeReader.Read::change).toList());
            unseen = true;
            oldestUnseen = Math.min(oldestUnseen, batch.oldest());
            changes.forEach(this::taken);
            tools.meters().taken(changes);
            records += changes.size();
        }
        taken = batch.after();
        uncommitted = true;
        if (!unseen) {
            // There were only transaction markers and records that change nothing.
            see();
        }
    }

    /** Called before the index takes the changes: an engine may show them before its refresh. */
    private void aboutToApply(List<ChangeReader.Read> read) {
        if (!complete) {
            recentRows.aboutToApplyMany();
            return;
        }
        for (ChangeReader.Read each : read) {
            if (each.change().kind() == EntryKind.IDENTITY) {
                recentRows.aboutToApply(each.change().puri());
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
            invisible.add(read);
            if (invisible.size() > RecentRows.MOST) {
                invisible.removeFirst();
            }
        }
    }

    /** Called before the index takes the changes, since it looks up the entries that they remove. */
    private void oweFor(List<ChangeReader.Read> reads) throws IndexUnavailableException {
        boolean isOwed = isPurging ? owedSincePurge != null : owedSince != null;
        for (ChangeReader.Read read : isOwed ? List.<ChangeReader.Read>of() : reads) {
            if (mayBeInFiles(read)) {
                Instant now = tools.clock().instant();
                owedSince = owedSince == null ? now : owedSince;
                owedSincePurge = isPurging ? now : null;
                return;
            }
        }
    }

    /**
     * Whether files may hold the entry that a record removes. They do if the name had one. The registry also answers
     * refused events of unknown names with tombstones, which must not let anybody cause purges; but compaction may have
     * left such a tombstone of an erased name.
     */
    private boolean mayBeInFiles(ChangeReader.Read read) throws IndexUnavailableException {
        IndexChange change = read.change();
        EventOutcome answer = read.answer();
        if (change.entry() != null || Topics.isMarker(change.puri())) {
            return false;
        }
        boolean nothingHappened = answer != null && answer.outcome().kind() != Outcome.Kind.APPLIED;
        // Before the index is complete, its entries cannot be looked up.
        return !nothingHappened || !complete || index.entry(change.kind(), change.puri()) != null;
    }

    private boolean isRefreshDue() {
        if (!unseen) {
            return false;
        }
        if (!complete) {
            // Nobody reads it before it has caught up.
            SourceOffsets end = awaited;
            return end != null && end.lag(taken) == 0;
        }
        Duration interval = batches.wasFull() && tools.refreshInterval().compareTo(REFRESH_WHEN_BEHIND) < 0
                ? REFRESH_WHEN_BEHIND
                : tools.refreshInterval();
        return System.nanoTime() - refreshedAt >= interval.toNanos();
    }

    /** Lets readers see all changes that the index has taken, and wakes the waits for them. */
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
        wakeWaits();
        see();
    }

    private void wakeWaits() {
        List<ChangeReader.Read> all = List.copyOf(invisible);
        invisible.clear();
        all.forEach(this::remember);
        if (tools.waiters().isAnybodyThere()) {
            all.forEach(each -> tools.waiters().wake(each.change().puri()));
        }
    }

    private void remember(ChangeReader.Read read) {
        IndexChange change = read.change();
        EventOutcome answer = read.answer();
        if (change.entry() instanceof Entry.OfIdentity entry) {
            Row row = entry.row();
            recentRows.row(change.puri(), row.position(), row.handle());
        } else {
            recentRows.removed(change.puri());
            if (answer != null && answer.outcome().kind() == Outcome.Kind.APPLIED) {
                tools.outcomes().erased(change.puri(), answer.position(), read.at());
            } else if (answer != null) {
                tools.outcomes().noRow(change.puri(), answer.position());
            }
        }
        if (answer != null) {
            tools.outcomes().answered(change.puri(), answer.position());
        }
        if (answer != null && answer.outcome().reason() != null) {
            tools.outcomes()
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

    /** Commits the changes that the index has taken, with the checkpoint. */
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

    /** Notes end offsets, which the index may not have reached yet. */
    void observe(SourceOffsets now) {
        if (lastObserved != now && awaited == null) {
            lastObserved = now;
            awaited = now;
        }
        SourceOffsets end = awaited;
        if (end != null && end.lag(seen) == 0) {
            awaited = null;
            asOf = end.at();
            uncommitted |= !complete;
            complete = true;
        }
    }

    /** Why the index has to be rebuilt; null when it can be fed. */
    @Nullable
    String mismatch(SourceOffsets now, Duration trusted) {
        if (asOf.age(tools.clock()).compareTo(trusted) > 0) {
            return "the index was cut off since " + asOf.wall() + " and may have missed what was erased";
        }
        for (EntryKind kind : EntryKind.values()) {
            TopicEnds topic = now.endsOf(kind);
            if (!topic.topicId().toString().equals(topicIds.get(kind))
                    || !topic.byPartition()
                            .keySet()
                            .equals(taken.byKind().getOrDefault(kind, Map.of()).keySet())) {
                return kind.topic() + " was deleted and created again, or has other partitions than before";
            }
        }
        return null;
    }

    /** Whether its index has taken all changes that readers of another index see. */
    boolean hasTakenAllOf(IndexFeeder other) {
        return taken.hasReached(other.seen);
    }

    SearchIndex index() {
        return index;
    }

    /** The most recent rows that readers see; for any thread. */
    RecentRows recentRows() {
        return recentRows;
    }

    /** The offsets up to which readers see the topics; for any thread. */
    NextOffsets seen() {
        return seen;
    }

    /** The offsets up to which the index has taken the topics, visible or not; for any thread. */
    NextOffsets taken() {
        return taken;
    }

    /** Whether the index had caught up once; for any thread. */
    boolean isComplete() {
        return complete;
    }

    /** The last time at which readers are known to have seen everything; for any thread. */
    ObservationTime asOf() {
        return asOf;
    }

    /** What the feeder waits for, for people; null when it does not wait. For any thread. */
    @Nullable
    String trouble() {
        return trouble.reason();
    }

    /** Changes that this feeder has fed; for any thread. */
    long records() {
        return records;
    }

    /** Since when files may hold erased entries; null when they do not. */
    @Nullable
    Instant owedSince() {
        return owedSince;
    }

    /** A purge begins. Later erasures are left to the next one. */
    void purgeBegins() {
        isPurging = true;
        owedSincePurge = null;
    }

    /** The purge has ended. If it succeeded, files hold nothing that was erased before it began. */
    void purgeEnds(boolean succeeded) {
        isPurging = false;
        if (succeeded) {
            owedSince = owedSincePurge;
            uncommitted = true;
        }
    }

    /** Stops reading and leaves the index open, without a commit. */
    void disconnect() {
        batches.disconnect();
    }

    /** Stops reading, and commits if the engine allows it. */
    @Override
    public void close() {
        disconnect();
        if (uncommitted) {
            try {
                commit();
            } catch (IndexUnavailableException e) {
                log.warn("The last commit failed; later records will be read again: {}", e.getMessage());
            }
        }
    }
}
