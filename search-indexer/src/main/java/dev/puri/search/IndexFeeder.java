package dev.puri.search;

import dev.puri.projection.Backoff;
import dev.puri.projection.DigestCheck;
import dev.puri.projection.EndOffsets;
import dev.puri.projection.FailureState;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Staleness;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    /** Commits are due even without changes, so that the stored {@link #completeUpTo} does not become too old. */
    private static final Duration MAX_COMMIT_INTERVAL = Duration.ofMinutes(10);

    private final SearchIndex index;
    private final SourceOffsets firstSource;
    private final Context context;
    private final ChangePoller changePoller;
    private final DigestComparison digestComparison;
    private final PendingWakeUps pendingWakeUps;
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    /** The earliest timestamp of an invisible record. */
    private long oldestInvisibleMillis = Long.MAX_VALUE;

    private boolean hasInvisibleChanges;
    private boolean needsCommit;
    private long refreshedAtNanos = System.nanoTime();
    private long committedAtNanos = System.nanoTime();

    private boolean isPurging;

    /** The first time since the start of the running purge at which another purge became necessary; null if none. */
    private @Nullable Instant purgeNeededAgainSince;

    /** What readers see, compared with the end offsets. */
    private final Staleness<SourceOffsets> staleness;

    /** The documents that readers see, compared with end offsets that include open transactions. */
    private final Staleness<EndOffsets> documentStaleness;

    /** The result of {@link #completeUpTo} until the index has caught up. */
    private final ObservationTime firstCompleteUpTo;

    private volatile NextOffsets appliedOffsets;
    private volatile NextOffsets visibleOffsets;
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

    /** The index cannot be updated from its topics any more. The message says why. */
    static final class RebuildRequiredException extends Exception {
        private static final long serialVersionUID = 1L;

        RebuildRequiredException(String reason) {
            super(reason);
        }
    }

    /**
     * @param checkpoint the last committed checkpoint of the index; it must match the source
     * @param source current offsets of the topics
     */
    IndexFeeder(SearchIndex index, IndexCheckpoint checkpoint, SourceOffsets source, Context context) {
        this.index = index;
        this.firstSource = source;
        this.context = context;
        this.changePoller = new ChangePoller(
                context.consumers(),
                (record, polledAtNanos) -> context.decoder()
                        .decode(record, source.partitions(EntryKind.ofTopic(record.topic())), polledAtNanos));
        digestComparison = new DigestComparison(checkpoint, source, context.clock(), System::nanoTime);
        pendingWakeUps = new PendingWakeUps(context.outcomes(), context.waiters());
        appliedOffsets = NextOffsets.of(checkpoint, source);
        visibleOffsets = appliedOffsets;
        purgeNeededSince = checkpoint.purgeNeededSince();
        boolean isEmpty = checkpoint.topicIds().isEmpty();
        Instant wall = isEmpty ? source.at().wall() : checkpoint.completeUpTo();
        long ageNanos =
                Math.max(0, Duration.between(wall, context.clock().instant()).toNanos());
        firstCompleteUpTo = new ObservationTime(System.nanoTime() - ageNanos, wall);
        staleness = new Staleness<>(SourceOffsets::at, ends -> ends.lag(visibleOffsets) == 0, context.clock());
        documentStaleness = new Staleness<>(
                EndOffsets::at,
                ends -> ends.isReachedBy(partition -> visibleOffsets.nextOffset(EntryKind.DOCUMENT, partition)),
                context.clock());
        if (checkpoint.isComplete()) {
            staleness.noteComplete(firstCompleteUpTo);
        }
        needsCommit = isEmpty;
    }

    /**
     * Polls and applies one batch, and refreshes and commits the index if that is due. May block in the engine.
     *
     * @param source current offsets of the topics. When readers reach them, the index is complete up to their time.
     * @param maxIndexAge maximum time since the index was complete; see {@link EndOffsetMonitor#maxIndexAge}
     * @param timeout the longest wait for records
     * @return false if there was nothing to apply, or a retry is due later
     * @throws IndexUnavailableException if the index must be opened again and continued from its last commit
     */
    boolean step(SourceOffsets source, Duration maxIndexAge, Duration timeout)
            throws RebuildRequiredException, IndexUnavailableException {
        requireSameTopics(source, maxIndexAge);
        boolean hasRead = backoff.isDue() && applyNextBatch(timeout);
        // Also while the next batch cannot be read: readers must see the changes of earlier batches.
        if (isRefreshDue()) {
            refresh();
        }
        if (isCommitDue()) {
            commit();
        }
        boolean wasComplete = isComplete();
        staleness.observe(source);
        documentStaleness.observe(source.documentHighWatermarks());
        needsCommit |= !wasComplete && isComplete();
        return hasRead;
    }

    private void requireSameTopics(SourceOffsets source, Duration maxIndexAge) throws RebuildRequiredException {
        if (completeUpTo().age(context.clock()).compareTo(maxIndexAge) > 0) {
            throw new RebuildRequiredException("the index has not been up to date since "
                    + completeUpTo().wall() + " and may have missed erasures");
        }
        for (EntryKind kind : EntryKind.values()) {
            if (!source.endsOf(kind).isOfTheSameTopic(firstSource.endsOf(kind))) {
                throw new RebuildRequiredException(
                        kind.topic() + " was deleted and created again, or its partitions changed");
            }
        }
    }

    private boolean applyNextBatch(Duration timeout) throws RebuildRequiredException, IndexUnavailableException {
        try {
            ChangePoller.Batch batch = changePoller.unacknowledgedOrNext(appliedOffsets, pollTimeout(timeout));
            if (batch != null) {
                apply(batch);
                changePoller.acknowledge();
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
            throw new RebuildRequiredException("records of the topics were deleted before the index read them");
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

    private void apply(ChangePoller.Batch batch) throws IndexUnavailableException {
        ComparableDigests digests = new ComparableDigests(batch.decodedRecords(), digestComparison::shouldCompare);
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
        pendingWakeUps.beforeApply(records, !isComplete());
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
        return !changedNothing || !isComplete() || index.entry(change.kind(), change.puri()) != null;
    }

    private boolean isRefreshDue() {
        if (!hasInvisibleChanges) {
            return false;
        }
        if (!isComplete()) {
            // Nobody reads the index during the first fill, so it needs no refresh before its end.
            return firstSource.lag(appliedOffsets) == 0;
        }
        Duration interval =
                changePoller.wasLastPollFull() && context.refreshInterval().compareTo(LAGGING_REFRESH_INTERVAL) < 0
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
        if (isComplete()) {
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
        Duration interval = isComplete() || context.commitInterval().compareTo(FIRST_FILL_COMMIT_INTERVAL) > 0
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
        return new IndexCheckpoint(
                firstSource.topicIds(), appliedOffsets.byKind(), completeUpTo().wall(), isComplete(), purgeNeededSince);
    }

    /** Whether this feeder's index has applied all changes that readers of another feeder's index see. */
    boolean hasAppliedAllVisibleIn(IndexFeeder other) {
        return appliedOffsets.hasReached(other.visibleOffsets);
    }

    /** Returns the check of the entries of a kind. Thread-safe. */
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
        return staleness.hasCaughtUp();
    }

    /** Returns the latest time up to which readers certainly see all records. Thread-safe. */
    ObservationTime completeUpTo() {
        return Objects.requireNonNullElse(staleness.completeUpTo(), firstCompleteUpTo);
    }

    /**
     * Whether readers certainly see the document that was written in the same transaction as the visible row of a name.
     * Also true if the transaction wrote no document. Thread-safe.
     *
     * <p>This holds once readers have reached the ends that the partitions of documents had after the row was applied.
     * These ends are high watermarks: when readers see a row, the document of the same transaction may still be after
     * the last stable offset of its partition.
     */
    boolean isDocumentVisible(Puri puri) {
        ObservationTime documentsCompleteUpTo = documentStaleness.completeUpTo();
        return documentsCompleteUpTo != null
                && documentsCompleteUpTo.nanos() - recentRows().writtenBeforeNanos(puri) >= 0;
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
        changePoller.disconnect();
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
