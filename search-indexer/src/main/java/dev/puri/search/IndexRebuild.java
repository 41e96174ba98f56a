package dev.puri.search;

import dev.puri.search.IndexFeeder.OffsetGoneException;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.Backoff;
import dev.puri.tail.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Builds another index while the serving one is fed and searched. Somebody asked for it, or the serving index cannot be
 * fed any more, or the process ended during the last rebuild.
 *
 * <pre>
 * wanted ─▶ continue an unfinished index, or begin an empty one ─▶ step · step … ─▶ caught up: built
 *   ▲                                                                  │
 *   └────────── back off ◀── the engine fails, or a topic was cut ◀────┘
 * </pre>
 *
 * A failure of the rebuild does not affect the serving index. Used by the indexer's thread; methods for other threads
 * say so.
 */
final class IndexRebuild {
    private static final Logger log = LoggerFactory.getLogger(IndexRebuild.class);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration POLL_BY_TURNS = Duration.ofMillis(5);
    private static final String ASKED = "asked for";
    private static final String INTERRUPTED = "was interrupted";

    private final IndexFeeder.Tools tools;
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    private volatile RebuildStatus status = RebuildStatus.NEVER;
    private volatile Request request = Request.NONE;
    private volatile @Nullable IndexFeeder feed;
    private volatile @Nullable String trouble;

    /** Why an index has to be built; null when none has to. */
    private @Nullable String wanted;

    /** The open index that {@link #feed} fills. */
    private @Nullable SearchIndex index;

    private @Nullable IndexFeeder built;

    /** Whether the engine was asked for an unfinished index. */
    private boolean looked;

    /** Source offsets that were observed before this time may end before what is read already. */
    private long observedFrom = System.nanoTime();

    /** What somebody asked for and the indexer's thread has not done yet. */
    private enum Request {
        NONE,
        REBUILD,
        CANCEL,
        /** Cancel the running rebuild and begin another one. */
        RESTART
    }

    IndexRebuild(IndexFeeder.Tools tools) {
        this.tools = tools;
    }

    // For any thread.

    /** The progress of the running rebuild, or the result of the last. */
    RebuildStatus status() {
        return status;
    }

    /** The feeder that fills the index; null when none does now. */
    @Nullable
    IndexFeeder feed() {
        return feed;
    }

    /** Why the rebuild has to wait, for people; null when it does not. */
    @Nullable
    String trouble() {
        IndexFeeder filling = feed;
        return filling == null ? trouble : filling.trouble();
    }

    /** Asks for a rebuild; does nothing while one runs. */
    synchronized void ask() {
        if (request == Request.CANCEL) {
            request = Request.RESTART;
        } else if (!status.isRunning()) {
            request = Request.REBUILD;
            run(ASKED, 0);
        }
    }

    /** Asks to cancel the running rebuild. It goes on if the serving index cannot be fed any more. */
    synchronized void cancel() {
        if (status.isRunning()) {
            request = Request.CANCEL;
        }
    }

    private synchronized void run(String why, long end) {
        status = new RebuildStatus(
                RebuildStatus.State.RUNNING, why, tools.clock().instant(), null, 0, 0, end);
    }

    // For the indexer's thread.

    /** Requires a rebuild, since the serving index cannot be fed any more. */
    void need(String why) {
        if (wanted == null) {
            wanted = why;
        }
    }

    /**
     * Handles requests, and fills the index a little.
     *
     * @param main feeds the serving index; null when that cannot be fed
     * @return false when there was nothing to do, or it failed
     */
    boolean step(IndexStore home, SourceOffsets source, Duration trusted, @Nullable IndexFeeder main) {
        if (!backoff.isDue()) {
            return false;
        }
        try {
            handleRequest(home, main == null);
            if (feed == null && (wanted != null || !looked) && source.at().nanos() - observedFrom >= 0) {
                begin(home, source, trusted);
            }
            IndexFeeder building = feed;
            return building != null && fill(home, building, source, trusted, main);
        } catch (IndexUnavailableException e) {
            fail(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.error("The index cannot be rebuilt for now", e);
            fail(e.toString());
        }
        return false;
    }

    private void handleRequest(IndexStore home, boolean isNeeded) throws IndexUnavailableException {
        boolean isCancelled = !isNeeded && (request == Request.CANCEL || request == Request.RESTART);
        if (isCancelled) {
            // The request stays until the index is deleted: else the next start would continue the rebuild.
            drop(home);
            wanted = null;
        }
        finishRequest(isCancelled, isNeeded);
    }

    private synchronized void finishRequest(boolean isCancelled, boolean isNeeded) {
        if (request == Request.REBUILD) {
            need(ASKED);
            request = Request.NONE;
        } else if (isNeeded) {
            request = Request.NONE;
        } else if (isCancelled) {
            if (request == Request.RESTART) {
                need(ASKED);
                run(ASKED, 0);
            } else {
                status = status.ended(RebuildStatus.State.ENDED, tools.clock().instant());
                log.info("The rebuild of the index is cancelled");
            }
            request = Request.NONE;
        }
    }

    private void begin(IndexStore home, SourceOffsets source, Duration trusted) throws IndexUnavailableException {
        SearchIndex unfinished = home.building();
        index = unfinished;
        if (unfinished != null) {
            IndexCheckpoint reached = unfinished.committed();
            String mismatch = source.mismatch(reached, trusted, tools.clock().instant());
            if (mismatch == null) {
                log.info("The unfinished rebuild of the index continues");
                open(unfinished, reached, source, Objects.requireNonNullElse(wanted, INTERRUPTED));
                return;
            }
            log.info("The unfinished rebuild of the index is deleted: {}", mismatch);
            drop(home);
        }
        looked = true;
        String why = wanted;
        if (why != null) {
            if (!why.equals(ASKED)) {
                log.warn("Rebuilding the index: {}", why);
                tools.meters().rebuilt();
            }
            SearchIndex empty = home.build();
            index = empty;
            open(empty, IndexCheckpoint.NONE, source, why);
        }
    }

    private void open(SearchIndex into, IndexCheckpoint reached, SourceOffsets source, String why) {
        feed = new IndexFeeder(into, reached, source, tools);
        looked = true;
        wanted = why;
        trouble = null;
        backoff.begin();
        if (!status.isRunning()) {
            run(why, source.end());
        }
    }

    private boolean fill(
            IndexStore home, IndexFeeder building, SourceOffsets source, Duration trusted, @Nullable IndexFeeder main)
            throws IndexUnavailableException {
        String mismatch = building.mismatch(source, trusted);
        boolean read = false;
        try {
            read = mismatch == null && building.step(main == null ? POLL : POLL_BY_TURNS);
        } catch (OffsetGoneException e) {
            mismatch = e.getMessage();
        }
        if (mismatch != null) {
            wanted = mismatch;
            backOff(mismatch);
            drop(home);
            return false;
        }
        building.observe(source);
        long lag = source.lag(building.taken());
        synchronized (this) {
            status = status.at(building.records(), source.end() - lag, source.end());
        }
        if (building.isComplete() && (main == null || building.hasTakenAllOf(main))) {
            building.refresh();
            building.commit();
            built = building;
        }
        return read;
    }

    /** The rebuilt index; it has caught up and replaces the serving one. Null before. */
    @Nullable
    IndexFeeder built() {
        return built;
    }

    /** The rebuilt index serves now. */
    void swapped() {
        feed = null;
        index = null;
        built = null;
        wanted = null;
        backoff.reset();
        synchronized (this) {
            status = status.ended(RebuildStatus.State.DONE, tools.clock().instant());
            boolean isAskedAgain = request == Request.RESTART;
            request = Request.NONE;
            if (isAskedAgain) {
                ask();
            }
        }
    }

    private void drop(IndexStore home) throws IndexUnavailableException {
        disconnect();
        SearchIndex unfinished = index == null ? home.building() : index;
        if (unfinished != null) {
            index = unfinished;
            home.drop(unfinished);
            index = null;
        }
    }

    private void disconnect() {
        IndexFeeder filling = feed;
        feed = null;
        built = null;
        if (filling != null) {
            filling.disconnect();
        }
    }

    /** Closes the index. The next attempt opens it and continues from its last commit. */
    private void fail(String why) {
        log.warn("The rebuild of the index waits: {}", why);
        tools.meters().retried();
        backOff(why);
        disconnect();
        SearchIndex open = index;
        index = null;
        if (open != null) {
            open.close();
        }
        looked = false;
        observedFrom = System.nanoTime();
    }

    private void backOff(String why) {
        backoff.delay();
        trouble = why;
    }

    /**
     * Commits what the index has taken, if the engine allows it. The next one to open the engine continues from there.
     */
    void suspend() {
        IndexFeeder filling = feed;
        feed = null;
        built = null;
        index = null;
        looked = false;
        observedFrom = System.nanoTime();
        if (filling != null) {
            filling.close();
        }
    }
}
