package dev.puri.search;

import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.Backoff;
import dev.puri.tail.RetryPolicy;
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
 * Purges erased entries from the files of an index in time: one purge at a time, in a thread of its own. A purge may
 * take hours. Feeding and searching go on meanwhile; only the deletion of its index waits. Used by one thread.
 */
final class PurgeScheduler {
    private static final Logger log = LoggerFactory.getLogger(PurgeScheduler.class);
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    private final Duration forgetAfter;
    private final InstantSource clock;
    private final IndexMeters meters;
    private final Backoff backoff = new Backoff(RETRY_POLICY);
    private @Nullable Run running;

    private record Run(IndexFeeder feed, CompletableFuture<Boolean> end) {}

    /**
     * @param forgetAfter how long after an erasure its entry must be gone from the files
     */
    PurgeScheduler(Duration forgetAfter, InstantSource clock, IndexMeters meters) {
        this.forgetAfter = forgetAfter;
        this.clock = clock;
        this.meters = meters;
    }

    /** Starts a purge of the feeder's index when one is due and none runs. */
    void step(IndexFeeder feed) {
        finishEnded();
        if (running == null && isDue(feed)) {
            feed.purgeBegins();
            CompletableFuture<Boolean> end = new CompletableFuture<>();
            running = new Run(feed, end);
            boolean isStarted = false;
            try {
                Thread.ofPlatform().name("index-purge").daemon(true).start(() -> purge(feed.index(), end));
                isStarted = true;
            } finally {
                if (!isStarted) {
                    // There may be no memory for a thread. Without its end, no other purge would ever start.
                    end.complete(false);
                }
            }
        }
    }

    private boolean isDue(IndexFeeder feed) {
        Instant owed = feed.owedSince();
        // Half of the time is left for the rewriting itself.
        return owed != null
                && feed.isComplete()
                && backoff.isDue()
                && Duration.between(owed, clock.instant()).compareTo(forgetAfter.dividedBy(2)) >= 0;
    }

    private void purge(SearchIndex index, CompletableFuture<Boolean> end) {
        boolean succeeded = false;
        try {
            long begun = System.nanoTime();
            index.purge();
            meters.purges().record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
            succeeded = true;
        } catch (IndexUnavailableException e) {
            log.warn("Erased entries are still in files; the purge will be tried again: {}", e.getMessage());
        } catch (RuntimeException | Error e) {
            log.error("Erased entries are still in files; the purge will be tried again", e);
        } finally {
            end.complete(succeeded);
        }
    }

    /** Whether an index is being purged, so that it must not be deleted. */
    boolean isOf(SearchIndex index) {
        finishEnded();
        Run run = running;
        return run != null && run.feed.index() == index;
    }

    private void finishEnded() {
        Run run = running;
        if (run != null && run.end.isDone()) {
            boolean succeeded = run.end.join();
            run.feed.purgeEnds(succeeded);
            running = null;
            if (!succeeded) {
                backoff.delay();
            }
        }
    }

    /** Waits for the running purge, at most that long, and forgets it: its index is closed next, which ends it. */
    void awaitEnd(Duration timeout) {
        Run run = running;
        if (run != null) {
            try {
                run.end.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                log.warn("A purge is broken off and erased entries are still in files; it will begin again");
            } catch (ExecutionException e) {
                throw new IllegalStateException("a purge reports failures as its result", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            finishEnded();
            running = null;
        }
    }
}
