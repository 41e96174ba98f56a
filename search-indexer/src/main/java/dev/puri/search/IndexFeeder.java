package dev.puri.search;

import dev.puri.projection.Backoff;
import dev.puri.projection.DigestCheck;
import dev.puri.projection.FailureState;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.TopicEnds;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.search.ChangeDecoder.DecodedRecord;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
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
 * Applies the records of both topics to one index, one batch a step:
 *
 * <pre>
 * poll ─▶ decode ─▶ apply ─▶ refresh, when due: readers see the records; wake waiting requests
 *  ▲        │            └──▶ commit, when due: the engine stores the changes and the checkpoint
 *  └────────┴─── brokers or schema registry unavailable: back off, then retry the same batch
 * </pre>
 *
 * Applied changes are invisible to readers until the next refresh, and a crash before the next commit loses them. A
 * feeder holds one batch and polls the next only after the index has applied it, so its memory is bounded. If the
 * engine fails, the next feeder begins at the last commit, so no record is lost.
 *
 * <p>The registrar publishes the digest of each partition in the topics. The feeder compares it with the digest of the
 * index at the same offset: it applies the batch up to there ({@link ComparableDigests}), refreshes and compares
 * ({@link DigestComparison}).
 *
 * <p>One thread calls the feeder. Only the methods marked "Thread-safe" may be called by others.
 */
final class IndexFeeder implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(IndexFeeder.class);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(100), Duration.ofSeconds(5));

    /** While the index lags, frequent refreshes would slow it down and hardly make it fresher. */
    private static final Duration LAGGING_REFRESH_INTERVAL = Duration.ofSeconds(1);

    /** Frequent commits would cost more than reading the records since the last commit again after a crash. */
    private static final Duration FIRST_FILL_COMMIT_INTERVAL = Duration.ofSeconds(30);

    /** Commits are due even without changes, so that the stored {@link #asOf} does not become too old. */
    private static final Duration MAX_COMMIT_INTERVAL = Duration.ofMinutes(10);

    private final SearchIndex index;
    private final Map<EntryKind, String> topicIds = new EnumMap<>(EntryKind.class);
    private final Context context;
    private final BatchReader batchReader;
    private final DigestComparison digestComparison;
    private final PendingWakeUps pendingWakeUps;
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    /** The earliest timestamp of an invisible record. */
    private long oldestInvisibleMillis = Long.MAX_VALUE;

    private boolean hasInvisibleChanges;
    private boolean needsCommit;
    private long refreshedAtNanos = System.nanoTime();
    private long committedAtNanos = System.nanoTime();

    /** When readers reach these end offsets, the index is complete as of their time. Null if no end is pending. */
    private @Nullable SourceOffsets pendingEnds;

    private @Nullable SourceOffsets lastObservedOffsets;
    private boolean isPurging;

    /** The first time since the start of the running purge at which another purge became necessary; null if none. */
    private @Nullable Instant purgeNeededAgainSince;

    private volatile NextOffsets appliedOffsets;
    private volatile NextOffsets visibleOffsets;
    private volatile boolean isComplete;
    private volatile ObservationTime asOf;
    private volatile @Nullable Instant purgeNeededSince;
    private final FailureState waitState = new FailureState();
    private volatile long appliedCount;

    /**
     * The objects and settings that all feeders of a process share.
     *
     * @param consumers creates consumers without a group that read committed records only
     * @param refreshInterval time after which an applied change must be visible to readers
     * @param commitInterval time after which an applied change must be committed
     */
    record Context(
            Supplier<Consumer<byte[], byte[]>> consumers,
            ChangeDecoder decoder,
            OutcomeCache outcomes,
            Waiters waiters,
            Duration refreshInterval,
            Duration commitInterval,
            InstantSource clock,
            IndexMeters meters) {}

    /** The brokers no longer have the next offset to read. The index must be rebuilt. */
    static final class OffsetGoneException extends Exception {
        private static final long serialVersionUID = 1L;

        OffsetGoneException(OffsetOutOfRangeException cause) {
            super("records of the topics were deleted before the index read them", cause);
        }
    }

    /**
     * @param checkpoint the last committed checkpoint of the index; it must match the source
     * @param source current offsets of the topics
     */
    IndexFeeder(SearchIndex index, IndexCheckpoint checkpoint, SourceOffsets source, Context context) {
        this.index = index;
        this.context = context;
        this.batchReader = new BatchReader(
                context.consumers(),
                (record, polledAtNanos) -> context.decoder()
                        .decode(record, source.partitions(EntryKind.ofTopic(record.topic())), polledAtNanos));
        for (EntryKind kind : EntryKind.values()) {
            topicIds.put(kind, source.endsOf(kind).topicId().toString());
        }
        digestComparison = new DigestComparison(checkpoint, source, context.clock(), System::nanoTime);
        pendingWakeUps = new PendingWakeUps(context.outcomes(), context.waiters());
        appliedOffsets = NextOffsets.of(checkpoint, source);
        visibleOffsets = appliedOffsets;
        isComplete = checkpoint.isComplete();
        purgeNeededSince = checkpoint.purgeNeededSince();
        boolean isEmpty = checkpoint.topicIds().isEmpty();
        Instant wall = isEmpty ? source.at().wall() : checkpoint.asOf();
        long ageNanos =
                Math.max(0, Duration.between(wall, context.clock().instant()).toNanos());
        asOf = new ObservationTime(System.nanoTime() - ageNanos, wall);
        needsCommit = isEmpty;
    }

    /**
     * Polls and applies one batch, and refreshes and commits the index if that is due. May block in the engine.
     *
     * @param timeout the longest wait for records
     * @return false if there was nothing to apply, or a retry is due later
     * @throws IndexUnavailableException if the index must be opened again and continued from its last commit
     */
    boolean step(Duration timeout) throws OffsetGoneException, IndexUnavailableException {
        if (!backoff.isDue()) {
            return false;
        }
        try {
            BatchReader.Batch batch = batchReader.unacknowledgedOrNext(appliedOffsets, pollTimeout(timeout));
            if (batch != null) {
                apply(batch);
                batchReader.acknowledge();
            }
            if (isRefreshDue()) {
                refresh();
            }
            if (isCommitDue()) {
                commit();
            }
            backoff.reset();
            waitState.clear();
            return batch != null;
        } catch (SchemaRegistryUnavailableException e) {
            backOff("waiting for the schema registry: " + e.getMessage());
        } catch (DeclaredAttributes.UnknownException e) {
            // Not a failure: the declarations are usually read within a second.
            waitState.changeTo("waiting for the declarations of collections: " + e.getMessage());
            backoff.delayBriefly();
        } catch (OffsetOutOfRangeException e) {
            throw new OffsetGoneException(e);
        } catch (KafkaException e) {
            disconnect();
            backOff("waiting for the brokers: " + e.getMessage());
        }
        return false;
    }

    private void backOff(String reason) {
        context.meters().countRetry();
        if (waitState.changeTo(reason)) {
            log.warn("Indexing waits: {}", reason);
        }
        backoff.delay();
    }

    /** Returns the rest of the back-off; zero if the next step may run at once. */
    Duration untilNextStep() {
        return backoff.untilDue();
    }

    private Duration pollTimeout(Duration timeout) {
        Duration untilRefresh = Duration.ofNanos(
                Math.max(0, refreshedAtNanos + context.refreshInterval().toNanos() - System.nanoTime()));
        return hasInvisibleChanges && untilRefresh.compareTo(timeout) < 0 ? untilRefresh : timeout;
    }

    private void apply(BatchReader.Batch batch) throws IndexUnavailableException {
        ComparableDigests digests = new ComparableDigests(batch.decodedRecords(), digestComparison::isComparable);
        apply(digests.firstRecords(), batch.oldestTimestamp());
        if (!digests.digests().isEmpty()) {
            digestComparison.compare(digests.digests(), this::readEntryDigests);
        }
        apply(digests.lastRecords(), batch.oldestTimestamp());
        appliedOffsets = batch.nextOffsets();
        if (!hasInvisibleChanges) {
            // The batch contained only digests, transaction markers and skipped records.
            advanceVisibleOffsets();
        }
    }

    private void apply(List<DecodedRecord> records, long oldestTimestamp) throws IndexUnavailableException {
        if (records.isEmpty()) {
            return;
        }
        pendingWakeUps.beforeApply(records, !isComplete);
        markPurgeIfNeeded(records);
        index.apply(records.stream().map(DecodedRecord::change).toList());
        hasInvisibleChanges = true;
        needsCommit = true;
        oldestInvisibleMillis = Math.min(oldestInvisibleMillis, oldestTimestamp);
        pendingWakeUps.add(records);
        context.meters().countApplied(records);
        appliedCount += records.size();
    }

    private EntryDigests readEntryDigests() throws IndexUnavailableException {
        refresh();
        return index.digests();
    }

    private void advanceVisibleOffsets() {
        visibleOffsets = appliedOffsets;
        pendingWakeUps.wakeWaitersForAnyName();
    }

    /** Must run before the index applies the records, because it looks up the entries that they remove. */
    private void markPurgeIfNeeded(List<DecodedRecord> records) throws IndexUnavailableException {
        boolean isPurgeNeeded = isPurging ? purgeNeededAgainSince != null : purgeNeededSince != null;
        for (DecodedRecord record : isPurgeNeeded ? List.<DecodedRecord>of() : records) {
            if (mayRemoveStoredEntry(record)) {
                Instant now = context.clock().instant();
                purgeNeededSince = purgeNeededSince == null ? now : purgeNeededSince;
                purgeNeededAgainSince = isPurging ? now : null;
                return;
            }
        }
    }

    /**
     * Whether a record removes an entry that the index files may contain. The registry also answers refused events of
     * unknown names with tombstones, and such events must not cause purges. But compaction may have left only such a
     * tombstone of an erased name, so the index is asked whether it has an entry.
     */
    private boolean mayRemoveStoredEntry(DecodedRecord record) throws IndexUnavailableException {
        IndexChange change = record.change();
        EventOutcome eventOutcome = record.eventOutcome();
        if (change.entry() != null || Topics.isMarker(change.puri())) {
            return false;
        }
        boolean changedNothing = eventOutcome != null && eventOutcome.outcome().kind() != Outcome.Kind.APPLIED;
        // During the first fill, entries cannot be looked up.
        return !changedNothing || !isComplete || index.entry(change.kind(), change.puri()) != null;
    }

    private boolean isRefreshDue() {
        if (!hasInvisibleChanges) {
            return false;
        }
        if (!isComplete) {
            // Nobody reads the index during the first fill, so one refresh at its end suffices.
            SourceOffsets ends = pendingEnds;
            return ends != null && ends.lag(appliedOffsets) == 0;
        }
        Duration interval =
                batchReader.wasLastPollFull() && context.refreshInterval().compareTo(LAGGING_REFRESH_INTERVAL) < 0
                        ? LAGGING_REFRESH_INTERVAL
                        : context.refreshInterval();
        return System.nanoTime() - refreshedAtNanos >= interval.toNanos();
    }

    /** Makes all applied changes visible to readers, and wakes the waits for them. */
    void refresh() throws IndexUnavailableException {
        if (!hasInvisibleChanges) {
            return;
        }
        long startedAtNanos = System.nanoTime();
        index.refresh();
        refreshedAtNanos = System.nanoTime();
        context.meters().refreshes().record(refreshedAtNanos - startedAtNanos, TimeUnit.NANOSECONDS);
        if (isComplete) {
            context.meters()
                    .freshness()
                    .record(Math.max(0, context.clock().millis() - oldestInvisibleMillis), TimeUnit.MILLISECONDS);
        }
        hasInvisibleChanges = false;
        oldestInvisibleMillis = Long.MAX_VALUE;
        pendingWakeUps.wake();
        advanceVisibleOffsets();
    }

    private boolean isCommitDue() {
        Duration sinceCommit = Duration.ofNanos(System.nanoTime() - committedAtNanos);
        if (!needsCommit) {
            return sinceCommit.compareTo(MAX_COMMIT_INTERVAL) > 0;
        }
        Duration interval = isComplete || context.commitInterval().compareTo(FIRST_FILL_COMMIT_INTERVAL) > 0
                ? context.commitInterval()
                : FIRST_FILL_COMMIT_INTERVAL;
        return sinceCommit.compareTo(interval) > 0;
    }

    /** Commits all applied changes, together with the checkpoint. */
    void commit() throws IndexUnavailableException {
        long startedAtNanos = System.nanoTime();
        index.commit(checkpoint());
        needsCommit = false;
        committedAtNanos = System.nanoTime();
        context.meters().commits().record(committedAtNanos - startedAtNanos, TimeUnit.NANOSECONDS);
    }

    private IndexCheckpoint checkpoint() {
        return new IndexCheckpoint(topicIds, appliedOffsets.byKind(), asOf.wall(), isComplete, purgeNeededSince);
    }

    /** Takes note of end offsets. When readers have reached them, the index is complete as of their time. */
    void observe(SourceOffsets source) {
        if (lastObservedOffsets != source && pendingEnds == null) {
            lastObservedOffsets = source;
            pendingEnds = source;
        }
        SourceOffsets ends = pendingEnds;
        if (ends != null && ends.lag(visibleOffsets) == 0) {
            pendingEnds = null;
            asOf = ends.at();
            needsCommit |= !isComplete;
            isComplete = true;
        }
    }

    /** Returns why the index must be rebuilt; null if it can be updated from these topics. */
    @Nullable
    String mismatch(SourceOffsets source, Duration maxIndexAge) {
        if (asOf.age(context.clock()).compareTo(maxIndexAge) > 0) {
            return "the index has not been up to date since " + asOf.wall() + " and may have missed erasures";
        }
        for (EntryKind kind : EntryKind.values()) {
            TopicEnds topic = source.endsOf(kind);
            Map<Integer, Long> offsets = appliedOffsets.byKind().getOrDefault(kind, Map.of());
            if (!topic.topicId().toString().equals(topicIds.get(kind))
                    || !topic.byPartition().keySet().equals(offsets.keySet())) {
                return kind.topic() + " was deleted and created again, or its partitions changed";
            }
        }
        return null;
    }

    /** Whether this feeder's index has applied all changes that readers of another feeder's index see. */
    boolean hasAppliedAllVisibleIn(IndexFeeder other) {
        return appliedOffsets.hasReached(other.visibleOffsets);
    }

    /** Returns whether the entries of a kind agree with the registrar. Thread-safe. */
    DigestCheck digestCheck(EntryKind kind) {
        return digestComparison.check(kind);
    }

    /** Makes all applied changes visible, and returns the topics of the response of {@code GET /v1/digest}. */
    List<Map<String, Object>> readDigests() throws IndexUnavailableException {
        return digestComparison.toJson(appliedOffsets, readEntryDigests());
    }

    SearchIndex index() {
        return index;
    }

    /** Returns the most recent rows that readers see. Thread-safe. */
    RecentRows recentRows() {
        return pendingWakeUps.recentRows();
    }

    /** Returns the offsets up to which readers see the records. Thread-safe. */
    NextOffsets visibleOffsets() {
        return visibleOffsets;
    }

    /** Returns the offsets up to which the index has applied the changes, visible or not. Thread-safe. */
    NextOffsets appliedOffsets() {
        return appliedOffsets;
    }

    /** Whether the index has caught up with its topics once. Thread-safe. */
    boolean isComplete() {
        return isComplete;
    }

    /** Returns the latest time as of which readers certainly see all records. Thread-safe. */
    ObservationTime asOf() {
        return asOf;
    }

    /** Returns a human-readable reason why the feeder waits; null if it does not wait. Thread-safe. */
    @Nullable
    String waitReason() {
        return waitState.reason();
    }

    /** Returns the number of changes that this feeder has applied. Thread-safe. */
    long appliedCount() {
        return appliedCount;
    }

    /** Returns since when the index files may contain erased entries; null if they contain none. */
    @Nullable
    Instant purgeNeededSince() {
        return purgeNeededSince;
    }

    /** Must be called before a purge starts. Entries that are erased from now on need another purge. */
    void onPurgeStart() {
        isPurging = true;
        purgeNeededAgainSince = null;
    }

    /** Must be called after a purge. If it succeeded, the files contain no entry that was erased before its start. */
    void onPurgeEnd(boolean hasSucceeded) {
        isPurging = false;
        if (hasSucceeded) {
            purgeNeededSince = purgeNeededAgainSince;
            needsCommit = true;
        }
    }

    /** Closes the consumer, but neither commits nor closes the index. */
    void disconnect() {
        batchReader.disconnect();
    }

    /** Closes the consumer and commits. A failed commit is only logged. Does not close the index. */
    @Override
    public void close() {
        disconnect();
        if (needsCommit) {
            try {
                commit();
            } catch (IndexUnavailableException e) {
                log.warn("The last commit failed; uncommitted records will be read again: {}", e.getMessage());
            }
        }
    }
}
