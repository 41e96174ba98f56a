package dev.puri.search;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.FailureState;
import dev.puri.projection.LifeCycle;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.StoppedException;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.wait.Waiters;
import dev.puri.search.IndexFeeder.RebuildRequiredException;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the serving index up to date with its topics. The indexer's thread opens the engine, applies all changes and
 * swaps indices; {@link EndOffsetMonitor} asks the brokers for the end offsets on another thread.
 *
 * <pre>
 *  puri.identities.v1 ─┐                    ┌───────────────────┐
 *  puri.documents.v1  ─┴─▶ IndexFeeder ────▶│ the serving index │◀──── searches, IndexScrub
 *                                           └───────────────────┘
 *                                                     ▲ swap; then the old index is deleted (DeletionQueue)
 *  both topics,         ─▶ IndexFeeder ────▶ the index of an IndexRebuild: an operator requested it, or the
 *  from their beginning                      serving index can no longer be updated
 *
 *  open ─▶ get the end offsets ─▶ does the index match its topics? ─▶ step · step · step …
 *    ▲                              │                                  ▲ │ the engine fails, or a bug
 *    │                              └─ no: it does not serve, rebuild ─┘ │
 *    └────────── back off ◀──────────────────────────────────────────────┘
 * </pre>
 *
 * While brokers or schema registry do not answer, the index still serves; it is then not ready, and responses contain
 * its staleness. If the engine fails, no index serves until the engine is open again. An index that does not match its
 * topics when it is opened does not serve, because it may belong to other topics or contain entries that were erased
 * meanwhile. An index that differs from the registrar ({@link DigestCheck}) serves, but is not ready.
 */
final class Indexer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Indexer.class);
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));
    private static final Duration SIZE_INTERVAL = Duration.ofSeconds(10);

    /** Before the engine closes, the maximum wait for a purge, and again for searches. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /**
     * The maximum age of a stored index that serves before the brokers have reported how long they keep tombstones.
     * Kafka's default is one day.
     */
    private static final Duration MAX_AGE_WITHOUT_BROKERS = Duration.ofHours(20);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(30);

    private final EngineOpener engine;
    private final EndOffsetMonitor endOffsets;
    private final IndexFeeder.Context context;
    private final IndexHealth health;
    private final Waiters waiters;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("indexer", stop, RETRY_POLICY, this::openAndRun, this::onFailure);

    /** Empty while the engine is not open. */
    private final LifeCycle<ServingIndex, IndexFeeder> lifeCycle = new LifeCycle<>("search index");

    /** Why the indexer's thread cannot update the index. */
    private final FailureState updateFailure = new FailureState("the engine is being opened");

    /** The failure because of which an index that has served does not serve now; null if there is none. */
    private volatile @Nullable String servingFailure;

    /** Whether the thread has an open engine, so that it may commit. */
    private volatile boolean isEngineOpen;

    private volatile IndexSize size = new IndexSize(0, 0, 0, 0);

    private final IndexRebuild rebuild;

    private final DigestRequests digestRequests = new DigestRequests();

    // Only for the indexer's thread.
    private final PurgeScheduler purges;
    private final DeletionQueue deletions = new DeletionQueue();
    private boolean hasServed;
    private long sizeReadAtNanos = System.nanoTime() - SIZE_INTERVAL.toNanos();

    /** Opens the search engine. */
    @FunctionalInterface
    interface EngineOpener {
        IndexStore open() throws IndexUnavailableException;
    }

    /**
     * @param maxLag largest lag in offsets with which the index is ready
     * @param maxLagAge largest age of the end offsets, and largest staleness, with which the index is ready
     * @param forgetAfter time after which an erased entry must be purged from the index files
     */
    record Limits(long maxLag, Duration maxLagAge, Duration forgetAfter) {}

    /**
     * @param openTransaction describes an open transaction that holds back the last stable offset; null if there is
     *     none
     */
    Indexer(
            EngineOpener engine,
            EndOffsetMonitor endOffsets,
            IndexFeeder.Context context,
            Limits limits,
            Supplier<@Nullable String> openTransaction) {
        this.engine = engine;
        this.endOffsets = endOffsets;
        this.context = context;
        this.waiters = context.waiters();
        this.clock = context.clock();
        rebuild = new IndexRebuild(context, lifeCycle);
        health = new IndexHealth(this, rebuild, updateFailure, limits, clock, openTransaction);
        purges = new PurgeScheduler(limits.forgetAfter(), health.purgeFailure(), clock, context.meters());
        context.meters().registerDigests(this::digestCheck);
    }

    void start() {
        endOffsets.start();
        thread.start();
    }

    // Thread-safe.

    /**
     * Returns the serving index with its reference count raised, or null if no index serves. The caller must close
     * it.
     */
    @Nullable
    ServingIndex acquire() {
        while (true) {
            ServingIndex current = lifeCycle.serving();
            if (current == null || current.acquire()) {
                return current;
            }
            // Another index has just replaced this one.
            Thread.onSpinWait();
        }
    }

    /** Returns the serving index, or null if no index serves. To read it, use {@link #acquire} instead. */
    @Nullable
    ServingIndex serving() {
        return lifeCycle.serving();
    }

    /** Returns the failure because of which an index that has served does not serve now; null if there is none. */
    @Nullable
    String servingFailure() {
        return servingFailure;
    }

    /**
     * Returns the feeder of the serving index, which may have been stopped; null if no index serves, or before it has a
     * feeder.
     */
    @Nullable
    IndexFeeder servingFeeder() {
        ServingIndex current = lifeCycle.serving();
        return current == null ? null : current.feeder();
    }

    /** Returns the offsets up to which readers of the serving index see the changes. */
    NextOffsets visibleOffsets() {
        IndexFeeder feeder = servingFeeder();
        return feeder == null ? NextOffsets.NONE : feeder.visibleOffsets();
    }

    /** Returns the check of the serving index's entries of a kind; null if there is no {@link #servingFeeder}. */
    @Nullable
    DigestCheck digestCheck(EntryKind kind) {
        IndexFeeder feeder = servingFeeder();
        return feeder == null ? null : feeder.digestCheck(kind);
    }

    EndOffsetMonitor endOffsets() {
        return endOffsets;
    }

    IndexHealth health() {
        return health;
    }

    /** Returns the feeder that updates the serving index or fills the first one; null if there is none. */
    @Nullable
    IndexFeeder primaryFeeder() {
        return lifeCycle.feeder();
    }

    IndexSize size() {
        return size;
    }

    RebuildStatus rebuildStatus() {
        return rebuild.status();
    }

    /** Requests a rebuild. Does nothing while one runs. */
    void requestRebuild() {
        rebuild.requestRebuild();
    }

    /** Requests to cancel the running rebuild. Has no effect if the serving index can no longer be updated. */
    void requestCancellation() {
        rebuild.requestCancellation();
    }

    /**
     * Requests the field {@code topics} of the response of {@code GET /v1/digest}. The indexer's thread reads them,
     * because it knows the offsets that they belong to.
     *
     * @return never completes while the index is not updated; the caller needs a time-out
     */
    CompletableFuture<List<Map<String, Object>>> requestDigests() {
        return digestRequests.request();
    }

    // For the indexer's thread.

    private void openAndRun() throws IndexUnavailableException {
        try (IndexStore store = engine.open()) {
            runAndPrepareClose(store);
        } finally {
            isEngineOpen = false;
        }
    }

    private void runAndPrepareClose(IndexStore store) throws IndexUnavailableException {
        // If the closing fails too, its exception is suppressed and does not hide the cause.
        try (Closing closing = this::endUse) {
            try {
                run(store);
            } catch (IndexUnavailableException | RuntimeException | Error e) {
                // Before the index is closed, so that searches get the cause meanwhile.
                noteFailure(e);
                throw e;
            }
        }
    }

    /** Ends the use of an open engine. */
    @FunctionalInterface
    private interface Closing extends AutoCloseable {
        @Override
        void close();
    }

    private void endUse() {
        try {
            prepareClose();
        } finally {
            // Nothing is committed any more, so a stop may interrupt an engine that hangs while it closes.
            isEngineOpen = false;
        }
    }

    private void onFailure(Throwable cause) {
        if (cause instanceof IndexUnavailableException) {
            context.meters().countRetry();
            for (Throwable suppressed : cause.getSuppressed()) {
                log.error("Closing the index failed too", suppressed);
            }
        } else {
            log.error("Indexing failed; will retry", cause);
        }
        noteFailure(cause);
    }

    private void noteFailure(Throwable cause) {
        if (stop.isRequested()) {
            return;
        }
        boolean isUnavailable = cause instanceof IndexUnavailableException;
        String reason = isUnavailable ? String.valueOf(cause.getMessage()) : cause.toString();
        reportUpdateFailure(isUnavailable ? "the engine cannot be used: " + reason : reason);
        health.recordFailure(reason);
        if (hasServed) {
            servingFailure = reason;
        }
    }

    private void run(IndexStore store) throws IndexUnavailableException {
        SearchIndex index = store.openServing();
        IndexCheckpoint checkpoint = index.committedCheckpoint();
        isEngineOpen = true;
        long openedAtNanos = System.nanoTime();
        if (checkpoint.isComplete()) {
            serveStoredIndex(index, checkpoint);
        }
        SourceOffsets source = awaitOffsets(checkpoint, openedAtNanos);
        String mismatch = source.mismatch(checkpoint, maxIndexAge(), clock.instant());
        if (mismatch == null) {
            attach(new IndexFeeder(index, checkpoint, source, context));
        } else {
            // Searches must not use this index, because its entries may stay wrong for ever.
            ServingIndex stored = lifeCycle.withdraw();
            servingFailure = null;
            deletions.add(stored != null ? stored : awaitingDeletion(index));
            rebuild.require(mismatch);
            // An index cannot be rebuilt from truncated topics.
            updateFailure.changeTo(
                    mismatch.equals(source.truncation()) ? mismatch : "the index is being rebuilt because " + mismatch);
        }
        while (!stop.isRequested()) {
            runRound(store);
        }
    }

    /** Lets the feeder update the stored index that serves, or fill an index that cannot serve yet. */
    private void attach(IndexFeeder feeder) {
        ServingIndex stored = lifeCycle.serving();
        if (stored == null) {
            lifeCycle.fill(feeder);
        } else {
            stored.setFeeder(feeder);
            lifeCycle.attach(feeder);
        }
        updateFailure.clear();
    }

    /**
     * Lets the stored index serve before the brokers respond, if it was complete less than {@link
     * #MAX_AGE_WITHOUT_BROKERS} ago.
     */
    private void serveStoredIndex(SearchIndex index, IndexCheckpoint checkpoint) {
        Duration age = Duration.between(checkpoint.completeUpTo(), clock.instant());
        if (age.compareTo(MAX_AGE_WITHOUT_BROKERS) < 0) {
            lifeCycle.open(new ServingIndex(
                    index,
                    new ObservationTime(System.nanoTime() - Math.max(0, age.toNanos()), checkpoint.completeUpTo())));
            hasServed = true;
            servingFailure = null;
            log.info("The stored index serves; it has all records up to {}", checkpoint.completeUpTo());
        }
    }

    private void runRound(IndexStore store) throws IndexUnavailableException {
        SourceOffsets source = Objects.requireNonNull(endOffsets.lastOffsets());
        context.meters().registerPartitions(source);
        boolean hasRead = false;
        IndexFeeder feeder = lifeCycle.feeder();
        if (feeder != null) {
            try {
                hasRead = feeder.step(source, maxIndexAge(), isRebuildStepDue() ? Duration.ZERO : POLL_TIMEOUT);
                serveWhenComplete(feeder);
                purges.step(feeder);
                digestRequests.complete(feeder);
            } catch (RebuildRequiredException e) {
                stopFeeding(feeder, String.valueOf(e.getMessage()));
            }
        }
        hasRead |= rebuild.step(store, source, maxIndexAge());
        IndexFeeder rebuiltFeeder = rebuild.rebuiltFeeder();
        if (rebuiltFeeder != null) {
            swap(store, rebuiltFeeder);
        }
        // Without a feeder, the store may still regard the oldest index as serving and would refuse to drop it.
        if (lifeCycle.feeder() != null) {
            deletions.deleteOldest(store, purges::isPurging);
        }
        refreshSize();
        if (!hasRead) {
            waitForBackoffs();
        }
    }

    private boolean isRebuildStepDue() {
        IndexFeeder rebuildFeeder = rebuild.feeder();
        return rebuildFeeder != null && rebuildFeeder.untilNextStep().isZero();
    }

    /** Waits for the shorter back-off of the two feeders. */
    private void waitForBackoffs() {
        IndexFeeder feeder = lifeCycle.feeder();
        IndexFeeder rebuildFeeder = rebuild.feeder();
        Duration primaryBackoff = feeder == null ? POLL_TIMEOUT : feeder.untilNextStep();
        Duration rebuildBackoff = rebuildFeeder == null ? primaryBackoff : rebuildFeeder.untilNextStep();
        Duration shorter = primaryBackoff.compareTo(rebuildBackoff) < 0 ? primaryBackoff : rebuildBackoff;
        if (shorter.isPositive()) {
            stop.awaitRequest(shorter.compareTo(POLL_TIMEOUT) < 0 ? shorter : POLL_TIMEOUT);
        }
    }

    private void serveWhenComplete(IndexFeeder feeder) {
        if (lifeCycle.serving() == null && feeder.isComplete()) {
            lifeCycle.complete(servingIndexOf(feeder));
            onServing();
            log.info("The index is complete");
        }
    }

    private static ServingIndex servingIndexOf(IndexFeeder feeder) {
        ServingIndex index = new ServingIndex(feeder.index(), feeder.completeUpTo());
        index.setFeeder(feeder);
        return index;
    }

    private void onServing() {
        hasServed = true;
        servingFailure = null;
        updateFailure.clear();
        sizeReadAtNanos = System.nanoTime() - SIZE_INTERVAL.toNanos();
        waiters.wakeAll();
    }

    /**
     * Stops updating an index that no longer matches its topics. If it serves, it serves until the rebuilt index
     * replaces it; otherwise it is deleted.
     */
    private void stopFeeding(IndexFeeder feeder, String mismatch) {
        reportUpdateFailure("the index is being rebuilt because " + mismatch);
        feeder.disconnect();
        lifeCycle.detach();
        if (lifeCycle.serving() == null) {
            deletions.add(awaitingDeletion(feeder.index()));
        }
        rebuild.require(mismatch);
    }

    /**
     * Replaces the serving index with the rebuilt one, now and for the next start. If that fails, the old index still
     * serves, and the rebuild tries again.
     *
     * @throws IndexUnavailableException if it is unknown which index serves after the next start
     */
    private void swap(IndexStore store, IndexFeeder rebuiltFeeder) throws IndexUnavailableException {
        try {
            store.promote();
        } catch (IndexUnavailableException e) {
            if (!store.isServingUnchanged()) {
                throw e;
            }
            rebuild.fail(String.valueOf(e.getMessage()));
            return;
        }
        IndexFeeder oldFeeder = lifeCycle.feeder();
        if (oldFeeder != null) {
            oldFeeder.disconnect();
        }
        ServingIndex oldIndex = lifeCycle.swap(servingIndexOf(rebuiltFeeder));
        onServing();
        rebuild.onSwapped();
        log.info("The rebuilt index serves; it was built from {} changes", rebuiltFeeder.appliedCount());
        if (oldIndex != null) {
            deletions.add(oldIndex);
        } else if (oldFeeder != null) {
            deletions.add(awaitingDeletion(oldFeeder.index()));
        }
    }

    private ServingIndex awaitingDeletion(SearchIndex index) {
        return new ServingIndex(index, ObservationTime.now(clock));
    }

    private void refreshSize() {
        ServingIndex current = lifeCycle.serving();
        if (current == null || System.nanoTime() - sizeReadAtNanos < SIZE_INTERVAL.toNanos()) {
            return;
        }
        sizeReadAtNanos = System.nanoTime();
        try {
            size = current.index().size();
        } catch (IndexUnavailableException e) {
            log.debug("The engine does not report the size of the index", e);
        }
    }

    private Duration maxIndexAge() {
        return Objects.requireNonNull(endOffsets.maxIndexAge(), "the brokers have reported end offsets before");
    }

    /**
     * Waits for end offsets that were requested after the index was opened. Earlier end offsets may be smaller than the
     * offsets of the checkpoint, as if the index belonged to other topics. An empty index accepts any end offsets.
     */
    private SourceOffsets awaitOffsets(IndexCheckpoint checkpoint, long openedAtNanos) {
        while (!stop.isRequested()) {
            SourceOffsets offsets = endOffsets.lastOffsets();
            if (offsets != null
                    && (checkpoint.topicIds().isEmpty() || offsets.at().nanos() - openedAtNanos >= 0)) {
                return offsets;
            }
            String reason = endOffsets.failureReason();
            reportUpdateFailure(reason == null ? "the brokers have not reported the end offsets yet" : reason);
            stop.awaitRequest(POLL_TIMEOUT);
        }
        throw new StoppedException("stopped while waiting for the end offsets");
    }

    /** Commits both indices, and waits for a limited time until no search and no purge uses an index. */
    private void prepareClose() {
        IndexFeeder feeder = lifeCycle.feeder();
        ServingIndex current = lifeCycle.withdraw();
        if (current != null) {
            deletions.add(current);
        }
        try {
            purges.awaitEnd(CLOSE_TIMEOUT);
            if (feeder != null) {
                feeder.close();
            }
        } finally {
            try {
                rebuild.suspend();
            } finally {
                // Empties the queue, because the engine creates new index objects when it is opened again.
                deletions.awaitReaders(CLOSE_TIMEOUT);
            }
        }
    }

    private void reportUpdateFailure(String reason) {
        if (updateFailure.changeTo(reason) && !stop.isRequested()) {
            log.warn("The index cannot be updated: {}", reason);
        }
    }

    /** Stops indexing and commits, within half a minute. */
    @Override
    public void close() {
        // Read before the stop, because the thread closes the engine after the stop. Before that it commits both
        // indices, and an interrupt would make a commit fail.
        boolean mayCommit = isEngineOpen;
        stop.request();
        endOffsets.close();
        if (!mayCommit) {
            // The thread may wait for an engine that does not respond.
            thread.interrupt();
        }
        if (!thread.join(STOP_TIMEOUT)) {
            log.warn("The index is still open {} s after the request to stop", STOP_TIMEOUT.toSeconds());
            thread.interrupt();
        }
    }
}
