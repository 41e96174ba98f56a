package dev.puri.search;

import dev.puri.projection.Backoff;
import dev.puri.projection.LifeCycle;
import dev.puri.projection.RetryPolicy;
import dev.puri.search.IndexFeeder.RebuildRequiredException;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds a new index while the serving index is updated and searched. There are three reasons for a rebuild: an
 * operator requested it, the serving index can no longer be updated, or the process ended during the last rebuild.
 *
 * <pre>
 * Idle ─▶ Opened: the unfinished index, or an empty one ─▶ Filling, step by step ─▶ CaughtUp ─▶ swapped: Idle
 *   ▲                                                          │
 *   └── back off ◀── the engine fails, or records are deleted ─┘
 * </pre>
 *
 * While it is Filling or CaughtUp, the index is {@link LifeCycle.Rebuilding}, and the life cycle has the feeder.
 *
 * <p>A failure of the rebuild does not affect the serving index. The indexer's thread does the work. Other threads read
 * the status and leave a request, which the indexer's thread handles at its next step.
 */
final class IndexRebuild {
    private static final Logger log = LoggerFactory.getLogger(IndexRebuild.class);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    /** Shorter, because the same thread also updates the serving index. */
    private static final Duration POLL_TIMEOUT_BESIDE_SERVING = Duration.ofMillis(5);

    private static final String REQUESTED = "requested";
    private static final String INTERRUPTED = "the last rebuild was interrupted";

    private final IndexFeeder.Context context;
    private final LifeCycle<ServingIndex, IndexFeeder> lifeCycle;
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    private volatile RebuildStatus status = RebuildStatus.NEVER;
    private volatile Request pendingRequest = Request.NONE;

    /** Why the last attempt failed; null while a feeder fills an index. */
    private volatile @Nullable String failureReason;

    /** Only for the indexer's thread. */
    private State state = new Idle(null, true);

    /**
     * End offsets that were observed before this time may be smaller than the offsets of an unfinished index. Only for
     * the indexer's thread.
     */
    private long minObservedAtNanos = System.nanoTime();

    private sealed interface State {
        /** Why an index must be rebuilt; null if no rebuild is required. */
        @Nullable
        String reason();
    }

    /**
     * No index is open.
     *
     * @param mayHaveUnfinished whether the engine may have the unfinished index of an interrupted rebuild
     */
    private record Idle(@Nullable String reason, boolean mayHaveUnfinished) implements State {}

    /** An index is open: the next action fills it or deletes it. Ends within the step that opened the index. */
    private record Opened(@Nullable String reason, SearchIndex index) implements State {}

    /** A feeder fills the index. */
    private record Filling(String reason) implements State {}

    /** The index has caught up, is committed, and can replace the serving one. */
    private record CaughtUp(@Nullable String reason) implements State {}

    /** The last request of an operator that the indexer's thread has not handled yet. */
    private enum Request {
        NONE,
        REBUILD,
        CANCEL,
        /** Cancel the running rebuild and begin another one. */
        RESTART
    }

    /**
     * @param lifeCycle the life cycle of the serving index; this rebuild changes it only by {@link LifeCycle#rebuild}
     *     and {@link LifeCycle#endRebuild}
     */
    IndexRebuild(IndexFeeder.Context context, LifeCycle<ServingIndex, IndexFeeder> lifeCycle) {
        this.context = context;
        this.lifeCycle = lifeCycle;
    }

    // Thread-safe.

    /** Returns the progress of the running rebuild, or the result of the last one. */
    RebuildStatus status() {
        RebuildStatus current = status;
        return current.isRunning() ? current.withDetail(waitReason()) : current;
    }

    /** Returns the feeder that fills the new index; null if none does now. */
    @Nullable
    IndexFeeder feeder() {
        return lifeCycle.state().rebuildFeeder();
    }

    /** Returns a human-readable reason why the rebuild waits; null if it does not wait. */
    @Nullable
    String waitReason() {
        IndexFeeder currentFeeder = feeder();
        return currentFeeder == null ? failureReason : currentFeeder.waitReason();
    }

    /** Requests a rebuild. Does nothing while one runs, except if that one is being cancelled. */
    synchronized void requestRebuild() {
        if (pendingRequest == Request.CANCEL) {
            pendingRequest = Request.RESTART;
        } else if (!status.isRunning()) {
            pendingRequest = Request.REBUILD;
            markRunning(REQUESTED, 0);
        }
    }

    /** Requests to cancel the running rebuild. Has no effect if the serving index can no longer be updated. */
    synchronized void requestCancellation() {
        if (status.isRunning()) {
            pendingRequest = Request.CANCEL;
        }
    }

    private synchronized void markRunning(String reason, long end) {
        status = new RebuildStatus(
                RebuildStatus.State.RUNNING, reason, context.clock().instant(), null, 0, 0, end, null);
    }

    // For the indexer's thread.

    /** Requires a rebuild, unless one is required already. */
    void require(String reason) {
        if (state instanceof Idle idle && idle.reason() == null) {
            state = new Idle(reason, idle.mayHaveUnfinished());
        }
    }

    /**
     * Handles a request, and applies one batch to the new index.
     *
     * @return false if there was nothing to apply, or a retry is due later
     */
    boolean step(IndexStore store, SourceOffsets source, Duration maxIndexAge) {
        if (!backoff.isDue()) {
            return false;
        }
        try {
            handlePendingRequest(store, lifeCycle.feeder() == null);
            if (state instanceof Idle idle
                    && (idle.reason() != null || idle.mayHaveUnfinished())
                    && source.at().nanos() - minObservedAtNanos >= 0) {
                begin(store, source, maxIndexAge);
            }
            IndexFeeder currentFeeder = feeder();
            return currentFeeder != null && fill(store, currentFeeder, source, maxIndexAge);
        } catch (IndexUnavailableException e) {
            fail(String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            // An Error too, because the serving index must not be closed for it.
            log.error("The rebuild of the index failed; will retry", e);
            fail(e.toString());
        }
        return false;
    }

    /**
     * @param isNeeded whether the serving index can no longer be updated, so that the rebuild cannot be cancelled
     */
    private void handlePendingRequest(IndexStore store, boolean isNeeded) throws IndexUnavailableException {
        boolean isCancelled = !isNeeded && (pendingRequest == Request.CANCEL || pendingRequest == Request.RESTART);
        if (isCancelled) {
            // The request is pending until the index is deleted. Otherwise the next start would continue the rebuild.
            drop(store, null);
        }
        completePendingRequest(isCancelled, isNeeded);
    }

    private synchronized void completePendingRequest(boolean isCancelled, boolean isNeeded) {
        if (pendingRequest == Request.REBUILD) {
            require(REQUESTED);
            pendingRequest = Request.NONE;
        } else if (isNeeded) {
            pendingRequest = Request.NONE;
        } else if (isCancelled) {
            if (pendingRequest == Request.RESTART) {
                require(REQUESTED);
                markRunning(REQUESTED, 0);
            } else {
                status = status.withEnd(
                        RebuildStatus.State.ENDED, context.clock().instant());
                log.info("Cancelled the rebuild of the index");
            }
            pendingRequest = Request.NONE;
        }
    }

    private void begin(IndexStore store, SourceOffsets source, Duration maxIndexAge) throws IndexUnavailableException {
        SearchIndex unfinished = store.openUnfinished();
        if (unfinished != null) {
            state = new Opened(state.reason(), unfinished);
            IndexCheckpoint checkpoint = unfinished.committedCheckpoint();
            String mismatch =
                    source.mismatch(checkpoint, maxIndexAge, context.clock().instant());
            if (mismatch == null) {
                log.info("Continuing the unfinished rebuild of the index");
                open(unfinished, checkpoint, source, Objects.requireNonNullElse(state.reason(), INTERRUPTED));
                return;
            }
            log.info("Deleting the index of the unfinished rebuild: {}", mismatch);
            drop(store, state.reason());
        }
        String reason = state.reason();
        state = new Idle(reason, false);
        String truncation = source.truncation();
        if (reason != null && truncation != null) {
            if (!truncation.equals(failureReason)) {
                log.error("The index cannot be rebuilt: {}", truncation);
            }
            backOff(truncation);
            return;
        }
        if (reason != null) {
            if (!reason.equals(REQUESTED)) {
                log.warn("Rebuilding the index: {}", reason);
                context.meters().countRebuild();
            }
            SearchIndex empty = store.createUnfinished();
            state = new Opened(reason, empty);
            open(empty, IndexCheckpoint.NONE, source, reason);
        }
    }

    private void open(SearchIndex target, IndexCheckpoint checkpoint, SourceOffsets source, String reason) {
        lifeCycle.rebuild(new IndexFeeder(target, checkpoint, source, context));
        state = new Filling(reason);
        failureReason = null;
        backoff.begin();
        if (!status.isRunning()) {
            markRunning(reason, source.sumOfEnds());
        }
    }

    private boolean fill(IndexStore store, IndexFeeder currentFeeder, SourceOffsets source, Duration maxIndexAge)
            throws IndexUnavailableException {
        // Null if the serving index can no longer be updated.
        IndexFeeder primaryFeeder = lifeCycle.feeder();
        boolean hasRead;
        try {
            hasRead = currentFeeder.step(
                    source, maxIndexAge, primaryFeeder == null ? POLL_TIMEOUT : POLL_TIMEOUT_BESIDE_SERVING);
        } catch (RebuildRequiredException e) {
            String mismatch = String.valueOf(e.getMessage());
            backOff(mismatch);
            drop(store, mismatch);
            return false;
        }
        long lag = source.lag(currentFeeder.appliedOffsets());
        synchronized (this) {
            status = status.withProgress(currentFeeder.appliedCount(), source.sumOfEnds() - lag, source.sumOfEnds());
        }
        if (currentFeeder.isComplete()
                && (primaryFeeder == null || currentFeeder.hasAppliedAllVisibleIn(primaryFeeder))) {
            currentFeeder.refresh();
            currentFeeder.commit();
            state = new CaughtUp(state.reason());
        }
        return hasRead;
    }

    /** Returns the feeder of the rebuilt index, which can replace the serving one; null before it has caught up. */
    @Nullable
    IndexFeeder rebuiltFeeder() {
        return state instanceof CaughtUp ? feeder() : null;
    }

    /** Must be called after the rebuilt index has replaced the serving one. */
    void onSwapped() {
        state = new Idle(null, false);
        backoff.reset();
        synchronized (this) {
            status = status.withEnd(RebuildStatus.State.DONE, context.clock().instant());
            boolean isRequestedAgain = pendingRequest == Request.RESTART;
            pendingRequest = Request.NONE;
            if (isRequestedAgain) {
                requestRebuild();
            }
        }
    }

    /**
     * Deletes the index of the rebuild, if there is one.
     *
     * @param nextReason why another rebuild is required; null if none is
     */
    private void drop(IndexStore store, @Nullable String nextReason) throws IndexUnavailableException {
        SearchIndex open = disconnect(nextReason == null ? state.reason() : nextReason);
        SearchIndex unfinished = open == null ? store.openUnfinished() : open;
        if (unfinished != null) {
            state = new Opened(state.reason(), unfinished);
            store.drop(unfinished);
        }
        state = new Idle(nextReason, false);
    }

    /** Stops the feeder. Returns the open index, or null if none is open. */
    private @Nullable SearchIndex disconnect(@Nullable String reason) {
        IndexFeeder currentFeeder = feeder();
        SearchIndex open =
                currentFeeder != null ? currentFeeder.index() : state instanceof Opened opened ? opened.index() : null;
        lifeCycle.endRebuild();
        state = open == null ? new Idle(reason, true) : new Opened(reason, open);
        if (currentFeeder != null) {
            currentFeeder.disconnect();
        }
        return open;
    }

    /** Closes the index. The next attempt opens it and continues from its last commit. */
    void fail(String reason) {
        log.warn("The rebuild of the index failed; will retry: {}", reason);
        context.meters().countRetry();
        backOff(reason);
        SearchIndex open = disconnect(state.reason());
        state = new Idle(state.reason(), true);
        if (open != null) {
            open.close();
        }
        minObservedAtNanos = System.nanoTime();
    }

    private void backOff(String reason) {
        backoff.delay();
        failureReason = reason;
    }

    /**
     * Commits the new index, if the engine allows it. The rebuild continues from there when the engine is opened again.
     */
    void suspend() {
        IndexFeeder currentFeeder = feeder();
        lifeCycle.endRebuild();
        state = new Idle(state.reason(), true);
        minObservedAtNanos = System.nanoTime();
        if (currentFeeder != null) {
            currentFeeder.close();
        }
    }
}
