package dev.puri.search;

import dev.puri.projection.Backoff;
import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Schedules purges, which remove erased entries from the files of an index. One purge runs at a time, on its own
 * thread, because it may take hours. The index is updated and searched meanwhile; only its deletion waits for the
 * purge. Not thread-safe.
 */
final class PurgeScheduler {
    private static final Logger log = LoggerFactory.getLogger(PurgeScheduler.class);
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    private final Duration forgetAfter;
    private final FailureState failure;
    private final InstantSource clock;
    private final IndexMeters meters;
    private final Backoff backoff = new Backoff(RETRY_POLICY);
    private @Nullable RunningPurge runningPurge;

    private record RunningPurge(IndexFeeder feeder, CompletableFuture<Boolean> success) {}

    /**
     * @param forgetAfter time after which an erased entry must be purged from the index files
     * @param failure receives the reason why the last purge failed, while a purge is still needed
     */
    PurgeScheduler(Duration forgetAfter, FailureState failure, InstantSource clock, IndexMeters meters) {
        this.forgetAfter = forgetAfter;
        this.failure = failure;
        this.clock = clock;
        this.meters = meters;
    }

    /** Starts a purge of the feeder's index if it is due and no other purge runs. */
    void step(IndexFeeder feeder) {
        finishIfDone();
        if (runningPurge == null && feeder.purgeNeededSince() == null) {
            // The index whose purge failed may have been replaced.
            failure.clear();
        }
        if (runningPurge == null && isDue(feeder)) {
            feeder.onPurgeStart();
            CompletableFuture<Boolean> success = new CompletableFuture<>();
            runningPurge = new RunningPurge(feeder, success);
            boolean isStarted = false;
            try {
                Thread.ofPlatform().name("index-purge").daemon(true).start(() -> purge(feeder.index(), success));
                isStarted = true;
            } finally {
                if (!isStarted) {
                    // There may be no memory for a thread. If this purge did not end, no other purge would ever start.
                    success.complete(false);
                }
            }
        }
    }

    private boolean isDue(IndexFeeder feeder) {
        Instant neededSince = feeder.purgeNeededSince();
        // The other half of the time is for the purge itself.
        return neededSince != null
                && feeder.isComplete()
                && backoff.isDue()
                && Duration.between(neededSince, clock.instant()).compareTo(forgetAfter.dividedBy(2)) >= 0;
    }

    private void purge(SearchIndex index, CompletableFuture<Boolean> success) {
        boolean hasSucceeded = false;
        try {
            long startedAtNanos = System.nanoTime();
            index.purge();
            meters.purges().record(System.nanoTime() - startedAtNanos, TimeUnit.NANOSECONDS);
            hasSucceeded = true;
            failure.clear();
        } catch (IndexUnavailableException e) {
            if (failure.changeTo(String.valueOf(e.getMessage()))) {
                log.warn(
                        "The purge failed and erased entries are still in the index files; will retry: {}",
                        e.getMessage());
            }
        } catch (RuntimeException | Error e) {
            if (failure.changeTo(e.toString())) {
                log.error("The purge failed and erased entries are still in the index files; will retry", e);
            }
        } finally {
            success.complete(hasSucceeded);
        }
    }

    /** Whether an index is being purged and therefore must not be deleted. */
    boolean isPurging(SearchIndex index) {
        finishIfDone();
        RunningPurge current = runningPurge;
        return current != null && current.feeder.index() == index;
    }

    private void finishIfDone() {
        RunningPurge current = runningPurge;
        if (current != null && current.success.isDone()) {
            boolean hasSucceeded = current.success.join();
            current.feeder.onPurgeEnd(hasSucceeded);
            runningPurge = null;
            if (!hasSucceeded) {
                backoff.delay();
            }
        }
    }

    /** Waits, up to the timeout, for the running purge. If it still runs then, closing its index will end it. */
    void awaitEnd(Duration timeout) {
        RunningPurge current = runningPurge;
        if (current != null) {
            try {
                current.success.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                log.warn(
                        "The purge is interrupted and erased entries are still in the index files; it starts again later");
            } catch (ExecutionException e) {
                throw new IllegalStateException("a purge never completes exceptionally", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            finishIfDone();
            runningPurge = null;
        }
    }
}
