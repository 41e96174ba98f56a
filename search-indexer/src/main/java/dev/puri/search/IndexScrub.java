package dev.puri.search;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.TimeBudget;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.StoredHash;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the stored entries of the serving index with their stored hashes, one partition after the other, again and
 * again. The digests of the index are the sums of these hashes, so an entry that was altered in the files does not
 * change a digest; only this comparison finds it.
 *
 * <p>A thread of its own reads at a limited rate. It holds a point-in-time view for the time of one partition at most,
 * because the files of purged entries exist as long as a view of them.
 */
final class IndexScrub implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(IndexScrub.class);

    /** The pause after a pass over all partitions. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** The credit that is used up between two pauses. */
    private static final Duration MAX_CREDIT = Duration.ofMillis(50);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

    private final Indexer indexer;
    private final int entriesPerSecond;
    private final Stop stop = new Stop();
    private final SupervisedThread thread;
    private final FailureState failure;

    /** Limits the rate. Only for the thread. */
    private final TimeBudget budget = new TimeBudget(1, MAX_CREDIT, System::nanoTime);

    /**
     * @param entriesPerSecond the limit of the rate; 0 for no comparison
     */
    IndexScrub(Indexer indexer, int entriesPerSecond) {
        this(indexer, entriesPerSecond, PAUSE);
    }

    /**
     * For tests.
     *
     * @param pause the pause after a pass over all partitions
     */
    IndexScrub(Indexer indexer, int entriesPerSecond, Duration pause) {
        thread = new SupervisedThread("index-scrub", stop, RetryPolicy.fixed(pause), this::runPass, this::onFailure);
        this.indexer = indexer;
        this.failure = indexer.health().scrubFailure();
        this.entriesPerSecond = entriesPerSecond;
    }

    void start() {
        if (entriesPerSecond > 0) {
            thread.start();
        }
    }

    private void onFailure(Throwable cause) {
        boolean isUnavailable = cause instanceof IndexUnavailableException;
        if (isUnavailable && indexer.serving() == null) {
            // The indexer's thread has noticed the failure too, and reports it.
            log.debug("The stored entries cannot be read", cause);
        } else if (failure.changeTo(isUnavailable ? String.valueOf(cause.getMessage()) : cause.toString())) {
            log.error("The comparison of the stored entries with their hashes failed; will retry", cause);
        }
    }

    /** Compares the entries of all partitions, also if those of one cannot be read. */
    private void runPass() throws Exception {
        Exception firstFailure = null;
        for (EntryKind kind : EntryKind.values()) {
            int partitions = indexer.endOffsets().partitions(kind);
            for (int partition = 0; partition < partitions && !stop.isRequested(); partition++) {
                try (ServingIndex serving = indexer.acquire()) {
                    if (serving != null) {
                        scrub(serving, kind, partition);
                    }
                } catch (IndexUnavailableException | RuntimeException e) {
                    firstFailure = firstFailure == null ? e : firstFailure;
                }
            }
        }
        if (firstFailure != null) {
            throw firstFailure;
        }
        failure.clear();
    }

    private void scrub(ServingIndex serving, EntryKind kind, int partition) throws IndexUnavailableException {
        IndexFeeder feeder = serving.feeder();
        if (feeder == null) {
            return;
        }
        Visit visit = new Visit(serving);
        serving.index().forEachHash(kind, partition, visit::next);
        DigestCheck check = feeder.digestCheck(kind);
        StoredHash altered = visit.altered;
        if (altered != null) {
            Puri puri = altered.puri();
            check.storedRowsDiffer(partition, puri == null ? "an entry that cannot be read" : "the entry " + puri);
        } else if (!visit.isCutShort) {
            check.storedRowsAgree(partition);
        }
    }

    /** The comparison of the entries of one partition. It ends at the first altered entry. */
    private final class Visit {
        private final ServingIndex serving;
        private @Nullable StoredHash altered;
        private boolean isCutShort;

        private Visit(ServingIndex serving) {
            this.serving = serving;
        }

        private boolean next(StoredHash hash) {
            if (hash.isAltered()) {
                altered = hash;
                return false;
            }
            budget.spend(1, entriesPerSecond, stop);
            // An index that no longer serves waits for its readers, to be closed or deleted.
            isCutShort = stop.isRequested() || !serving.equals(indexer.serving());
            return !isCutShort;
        }
    }

    @Override
    public void close() {
        stop.request();
        if (entriesPerSecond > 0 && !thread.join(STOP_TIMEOUT)) {
            thread.interrupt();
        }
    }
}
