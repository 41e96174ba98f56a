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
 * Sees to it that what was erased is gone from files in time: one purge at a time, in a thread of its own. It may take
 * hours, and nobody who feeds or answers waits for it; its index is only not dropped meanwhile. Used by one thread.
 */
final class Purging {
    private static final Logger log = LoggerFactory.getLogger(Purging.class);
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    private final Duration forgetAfter;
    private final InstantSource clock;
    private final IndexMeters meters;
    private final Backoff backoff = new Backoff(RETRY_POLICY);
    private @Nullable Run running;

    private record Run(Feed feed, CompletableFuture<Boolean> over) {}

    /**
     * @param forgetAfter within what time erased entries are gone from files
     */
    Purging(Duration forgetAfter, InstantSource clock, IndexMeters meters) {
        this.forgetAfter = forgetAfter;
        this.clock = clock;
        this.meters = meters;
    }

    /** Begins one of the feed's index when that is due and none runs. */
    void step(Feed feed) {
        notice();
        if (running == null && isDue(feed)) {
            feed.purgeBegins();
            CompletableFuture<Boolean> over = new CompletableFuture<>();
            Thread.ofPlatform().name("index-purge").daemon(true).start(() -> purge(feed.index(), over));
            running = new Run(feed, over);
        }
    }

    private boolean isDue(Feed feed) {
        Instant owed = feed.owedSince();
        // Half of the time is left for the rewriting itself.
        return owed != null
                && feed.isComplete()
                && backoff.isDue()
                && Duration.between(owed, clock.instant()).compareTo(forgetAfter.dividedBy(2)) >= 0;
    }

    private void purge(SearchIndex index, CompletableFuture<Boolean> over) {
        boolean succeeded = false;
        try {
            long begun = System.nanoTime();
            index.purge();
            meters.purges().record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
            succeeded = true;
        } catch (IndexUnavailableException e) {
            log.warn("Erased entries still stand in files, which will be tried again: {}", e.getMessage());
        } catch (RuntimeException | Error e) {
            log.error("Erased entries still stand in files, which will be tried again", e);
        } finally {
            over.complete(succeeded);
        }
    }

    /** Whether an index is being purged, so that it must not be dropped. */
    boolean isOf(SearchIndex index) {
        notice();
        Run run = running;
        return run != null && run.feed.index() == index;
    }

    private void notice() {
        Run run = running;
        if (run != null && run.over.isDone()) {
            boolean succeeded = run.over.join();
            run.feed.purgeEnds(succeeded);
            running = null;
            if (!succeeded) {
                backoff.delay();
            }
        }
    }

    /** Waits a while for the one that runs, and forgets it then: its index is closed under it, which ends it. */
    void leave(Duration patience) {
        Run run = running;
        if (run != null) {
            try {
                run.over.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                log.warn("A purge is left, erased entries still stand in files; it is begun anew");
            } catch (ExecutionException e) {
                throw new IllegalStateException("a purge tells of its failures otherwise", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            notice();
            running = null;
        }
    }
}
