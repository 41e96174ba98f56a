package dev.puri.search;

import dev.puri.search.Feed.PlaceGoneException;
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
 * The index that is built beside the one that answers: somebody asked for it, or the other cannot be gone on
 * with, or it was left when the one before ended.
 *
 * <pre>
 * wanted ─▶ what is left of one is gone on with, else begun ─▶ step · step … ─▶ has all: built
 *   ▲                                                              │
 *   └───── pause, longer each time ◀── engine fails, topic is cut ◀┘
 * </pre>
 *
 * Whatever happens to it happens to it alone: the one that answers is fed all the while. Used by the indexer's thread;
 * what others may ask says so.
 */
final class Beside {
    private static final Logger log = LoggerFactory.getLogger(Beside.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration POLL_BY_TURNS = Duration.ofMillis(5);
    private static final String ASKED = "asked for";
    private static final String INTERRUPTED = "was interrupted";

    private final Feed.Tools tools;

    private volatile Reindexing progress = Reindexing.NEVER;
    private volatile Wish wish = Wish.NONE;
    private volatile @Nullable Feed feed;
    private volatile @Nullable String trouble;

    /** Why one is to be there; null when none is. */
    private @Nullable String wanted;

    /** Open, of which the feed is. */
    private @Nullable SearchIndex index;

    private @Nullable Feed built;

    /** Whether it is known that nothing is left from before. */
    private boolean looked;

    private Duration pause = FIRST_PAUSE;
    private long begunAt = System.nanoTime();
    private long tryAgainAt = System.nanoTime();

    /** What was sighted before may tell of less than is read already. */
    private long sightedFrom = System.nanoTime();

    /** What somebody asked for and was not done yet. */
    private enum Wish {
        NONE,
        REINDEX,
        END,
        /** The one that is built is given up, and another begun. */
        ANEW
    }

    Beside(Feed.Tools tools) {
        this.tools = tools;
    }

    // For any thread.

    /** How far it is, or what became of the last. */
    Reindexing progress() {
        return progress;
    }

    /** What fills it; null when nothing does now. */
    @Nullable
    Feed feed() {
        return feed;
    }

    /** Why it has to wait, for people; null when it does not. */
    @Nullable
    String trouble() {
        Feed filling = feed;
        return filling == null ? trouble : filling.trouble();
    }

    /** Asks for one; nothing changes when one is built. */
    synchronized void ask() {
        if (wish == Wish.END) {
            wish = Wish.ANEW;
        } else if (!progress.isRunning()) {
            wish = Wish.REINDEX;
            run(ASKED, 0);
        }
    }

    /** Asks for the one that is built to be given up, unless what answers cannot be gone on with. */
    synchronized void giveUp() {
        if (progress.isRunning()) {
            wish = Wish.END;
        }
    }

    private synchronized void run(String why, long end) {
        progress = new Reindexing(Reindexing.State.RUNNING, why, tools.clock().instant(), null, 0, 0, end);
    }

    // For the indexer's thread.

    /** One has to be there, since what answers cannot be gone on with. */
    void need(String why) {
        if (wanted == null) {
            wanted = why;
        }
    }

    /**
     * Does what was asked for, and fills it a little.
     *
     * @param main feeds the one that answers; null when it cannot be gone on with
     * @return false when there was nothing to do, or it could not be done
     */
    boolean step(IndexStore home, Sighting sighting, Duration trusted, @Nullable Feed main) {
        if (System.nanoTime() - tryAgainAt < 0) {
            return false;
        }
        try {
            obey(home, main == null);
            if (feed == null && (wanted != null || !looked) && sighting.at().nanos() - sightedFrom >= 0) {
                begin(home, sighting, trusted);
            }
            Feed building = feed;
            return building != null && fill(home, building, sighting, trusted, main);
        } catch (IndexUnavailableException e) {
            fail(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            log.error("The index beside cannot be built for now", e);
            fail(e.toString());
        }
        return false;
    }

    private void obey(IndexStore home, boolean isNeeded) throws IndexUnavailableException {
        boolean isGivenUp = !isNeeded && (wish == Wish.END || wish == Wish.ANEW);
        if (isGivenUp) {
            // Only then is it true, for the next start too: until it could be dropped the wish stays.
            drop(home);
            wanted = null;
        }
        obeyed(isGivenUp, isNeeded);
    }

    private synchronized void obeyed(boolean isGivenUp, boolean isNeeded) {
        if (wish == Wish.REINDEX) {
            need(ASKED);
            wish = Wish.NONE;
        } else if (isNeeded) {
            wish = Wish.NONE;
        } else if (isGivenUp) {
            if (wish == Wish.ANEW) {
                need(ASKED);
                run(ASKED, 0);
            } else {
                progress = progress.over(Reindexing.State.ENDED, tools.clock().instant());
                log.info("The index that was being built is given up");
            }
            wish = Wish.NONE;
        }
    }

    private void begin(IndexStore home, Sighting sighting, Duration trusted) throws IndexUnavailableException {
        SearchIndex left = home.building();
        index = left;
        if (left != null) {
            IndexCheckpoint reached = left.committed();
            String misfit = sighting.misfit(reached, trusted, tools.clock().instant());
            if (misfit == null) {
                log.info("An index that was being built is gone on with");
                open(left, reached, sighting, Objects.requireNonNullElse(wanted, INTERRUPTED));
                return;
            }
            log.info("What was left of an index that was being built is dropped: {}", misfit);
            drop(home);
        }
        looked = true;
        String why = wanted;
        if (why != null) {
            if (!why.equals(ASKED)) {
                log.warn("Building an index anew: {}", why);
                tools.meters().rebuilt();
            }
            SearchIndex empty = home.build();
            index = empty;
            open(empty, IndexCheckpoint.NONE, sighting, why);
        }
    }

    private void open(SearchIndex into, IndexCheckpoint reached, Sighting sighting, String why) {
        feed = new Feed(into, reached, sighting, tools);
        looked = true;
        wanted = why;
        trouble = null;
        begunAt = System.nanoTime();
        if (!progress.isRunning()) {
            run(why, sighting.end());
        }
    }

    private boolean fill(IndexStore home, Feed building, Sighting sighting, Duration trusted, @Nullable Feed main)
            throws IndexUnavailableException {
        String misfit = building.misfit(sighting, trusted);
        boolean read = false;
        try {
            read = misfit == null && building.step(main == null ? POLL : POLL_BY_TURNS);
        } catch (PlaceGoneException e) {
            misfit = e.getMessage();
        }
        if (misfit != null) {
            wanted = misfit;
            waitLonger(misfit);
            drop(home);
            return false;
        }
        building.sighted(sighting);
        long behind = sighting.behind(building.taken());
        synchronized (this) {
            progress = progress.at(building.records(), sighting.end() - behind, sighting.end());
        }
        if (building.isComplete() && (main == null || building.hasTakenAllOf(main))) {
            building.refresh();
            building.commit();
            built = building;
        }
        return read;
    }

    /** What has all that the one that answers lets readers see, and is to take its place; null before. */
    @Nullable
    Feed built() {
        return built;
    }

    /** It answers now, and none is beside it. */
    void tookOver() {
        feed = null;
        index = null;
        built = null;
        wanted = null;
        pause = FIRST_PAUSE;
        synchronized (this) {
            progress = progress.over(Reindexing.State.DONE, tools.clock().instant());
            boolean isAskedAgain = wish == Wish.ANEW;
            wish = Wish.NONE;
            if (isAskedAgain) {
                ask();
            }
        }
    }

    private void drop(IndexStore home) throws IndexUnavailableException {
        disconnect();
        SearchIndex left = index == null ? home.building() : index;
        if (left != null) {
            index = left;
            home.drop(left);
            index = null;
        }
    }

    private void disconnect() {
        Feed filling = feed;
        feed = null;
        built = null;
        if (filling != null) {
            filling.disconnect();
        }
    }

    /** It is opened anew, and gone on with from its last commit. */
    private void fail(String why) {
        log.warn("The index beside waits: {}", why);
        tools.meters().retried();
        waitLonger(why);
        disconnect();
        SearchIndex open = index;
        index = null;
        if (open != null) {
            open.close();
        }
        looked = false;
        sightedFrom = System.nanoTime();
    }

    private void waitLonger(String why) {
        boolean lasted = System.nanoTime() - begunAt > LONGEST_PAUSE.toNanos();
        pause = lasted ? FIRST_PAUSE : pause.multipliedBy(2);
        pause = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
        tryAgainAt = System.nanoTime() + pause.toNanos();
        trouble = why;
    }

    /** Keeps what was taken, if the engine lets it; the next to open the engine finds it. */
    void leave() {
        Feed filling = feed;
        feed = null;
        built = null;
        index = null;
        looked = false;
        sightedFrom = System.nanoTime();
        if (filling != null) {
            filling.close();
        }
    }
}
