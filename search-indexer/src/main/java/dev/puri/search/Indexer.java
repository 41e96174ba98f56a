package dev.puri.search;

import dev.puri.http.Health;
import dev.puri.search.Feed.PlaceGoneException;
import dev.puri.search.index.IndexHome;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Reached;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.Moment;
import dev.puri.tail.Stop;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps an index that answers, and keeps it fed. One thread of its own goes round and round; the brokers are
 * asked for the topics' ends beside it.
 *
 * <pre>
 *  puri.identities.v1 ─┐             ┌──────────────────────────┐
 *  puri.documents.v1  ─┴─▶ Feed ────▶│ the index that answers   │◀──── searches
 *                                    └──────────────────────────┘
 *                                                 ▲ takes its place, and the old one is dropped
 *  from the beginning   ─▶ Feed ────▶ one that is built beside: asked for, or when the one that
 *                                     answers cannot be gone on with
 *
 *  open ─▶ sight the topics ─▶ does the index fit them? ─▶ step · step · step …
 *    ▲                              │ no: build beside           │ anything unforeseen
 *    └─────────── pause ◀───────────┴────────────────────────────┘
 * </pre>
 *
 * What has answered once goes on answering while brokers, schema registry or engine are away; it is then not
 * ready, and its answers say how old they are. An index that does not fit the topics when it is opened is
 * not answered from: it may be of another topic, or show what was erased meanwhile.
 */
final class Indexer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Indexer.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration POLL_BESIDE = Duration.ofMillis(5);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);
    private static final Duration LOOK_AT_SIZE = Duration.ofSeconds(10);
    private static final Duration LOOK_AT_READERS = Duration.ofMillis(2);
    private static final Duration LEAVE = Duration.ofSeconds(5);

    /** Brokers that keep tombstones for a day, as Kafka does unless it is told otherwise, and a margin. */
    private static final Duration TRUSTED_UNSEEN = Duration.ofHours(20);

    private static final Duration STOP = Duration.ofSeconds(30);

    private final Homes homes;
    private final TopicsWatch watch;
    private final Feed.Tools tools;
    private final Terms terms;
    private final Waiters waiters;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final Thread thread =
            Thread.ofPlatform().name("indexer").daemon(true).unstarted(this::keep);

    /** What answers; null before anything was complete. */
    private volatile @Nullable Served serving;

    private volatile @Nullable String trouble = "not begun";
    private volatile IndexSize size = new IndexSize(0, 0, 0, 0);
    private volatile Reindexing reindexing = Reindexing.NEVER;
    private final AtomicReference<Wish> wish = new AtomicReference<>(Wish.NONE);

    /** Feeds the index that answers, or is filled for the first time; null when nothing does. Written by the indexer's thread. */
    private volatile @Nullable Feed main;

    /** Fills the index that is built beside; null when none is. Written by the indexer's thread. */
    private volatile @Nullable Feed beside;

    // Of the indexer's thread alone.
    private final Deque<Served> retired = new ArrayDeque<>();
    private @Nullable CompletableFuture<Boolean> purging;
    private long purgeAgainAt = System.nanoTime();
    private long dropAgainAt = System.nanoTime();
    private long sizeLookedAt = System.nanoTime() - LOOK_AT_SIZE.toNanos();

    /** Opens the engine's indices. */
    @FunctionalInterface
    interface Homes {
        IndexHome open() throws IndexUnavailableException;
    }

    /**
     * @param maxLag records that the index may be behind and still be ready
     * @param maxLagAge how old the knowledge of that may be
     * @param forgetAfter within what time erased entries are gone from files
     */
    record Terms(long maxLag, Duration maxLagAge, Duration forgetAfter) {}

    /** What somebody asked for and the indexer's thread has not seen yet. */
    private enum Wish {
        NONE,
        REINDEX,
        END
    }

    /** What was running is cut off by a stop. */
    private static final class StoppedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    Indexer(Homes homes, TopicsWatch watch, Feed.Tools tools, Terms terms) {
        this.homes = homes;
        this.watch = watch;
        this.tools = tools;
        this.terms = terms;
        this.waiters = tools.waiters();
        this.clock = tools.clock();
    }

    void start() {
        watch.start();
        thread.start();
    }

    // What others ask, from any thread.

    /** What answers now, entered: to be left; null while nothing was complete. */
    @Nullable
    Served enter() {
        while (true) {
            Served now = serving;
            if (now == null || now.enter()) {
                return now;
            }
            // Another has taken its place meanwhile.
            Thread.onSpinWait();
        }
    }

    /** What answers now, not to be read; null while nothing was complete. */
    @Nullable
    Served serving() {
        return serving;
    }

    /** What readers see of the topics. */
    Places seen() {
        Served now = serving;
        Feed feed = now == null ? null : now.feed();
        return feed == null ? Places.NONE : feed.seen();
    }

    TopicsWatch watch() {
        return watch;
    }

    IndexSize size() {
        return size;
    }

    Reindexing reindexing() {
        return reindexing;
    }

    /** Asks for an index that is built anew beside the one that answers; nothing changes when one is. */
    void reindex() {
        if (!reindexing.isRunning()) {
            reindexing = new Reindexing(Reindexing.State.RUNNING, "asked for", clock.instant(), null, 0, 0, 0);
            wish.set(Wish.REINDEX);
        }
    }

    /** Asks for the one that is built to be given up, unless what answers cannot be gone on with. */
    void endReindexing() {
        wish.set(Wish.END);
    }

    boolean isReady() {
        return unready() == null;
    }

    /** Records that the index that answers is behind its topics; null when not known. */
    @Nullable
    Long behind() {
        Sighting seen = watch.last();
        Places places = seen();
        return seen == null || places == Places.NONE ? null : seen.behind(places);
    }

    /** Since when it is not known that the index that answers has all; null before there is one. */
    @Nullable
    Duration age() {
        Served now = serving;
        Moment complete = asOf(now);
        return complete == null ? null : complete.age(clock);
    }

    private static @Nullable Moment asOf(@Nullable Served served) {
        return served == null ? null : served.asOf();
    }

    /** How long ago the brokers told how far the topics go; null when they never did. */
    @Nullable
    Duration lagAge() {
        Sighting seen = watch.last();
        return seen == null ? null : seen.at().age(clock);
    }

    /** How far the filling is, for an answer that has to be put off. */
    String progress() {
        return Objects.requireNonNullElse(unready(), "it is now");
    }

    /** Up for good once an index was complete. */
    Health.State started() {
        Map<String, Object> details = details();
        return serving != null ? Health.State.up(details) : Health.State.down(details);
    }

    /** Up while the index that answers is fed, and close to the ends of its topics. */
    Health.State ready() {
        String reason = unready();
        Map<String, Object> details = details();
        if (reason == null) {
            return Health.State.up(details);
        }
        details.put("reason", reason);
        return Health.State.down(details);
    }

    private @Nullable String unready() {
        Served now = serving;
        Feed feed = now == null ? null : now.feed();
        String wrong = trouble;
        if (now == null || feed == null) {
            Feed filling = main != null ? main : beside;
            String waits = filling == null ? null : filling.trouble();
            return waits != null ? waits : wrong != null ? wrong : "the index is being filled";
        }
        String waits = feed.trouble();
        if (waits != null) {
            return waits;
        }
        Duration age = lagAge();
        Long behind = behind();
        if (age == null || behind == null || age.compareTo(terms.maxLagAge()) > 0) {
            String silent = watch.trouble();
            return silent != null ? silent : "not known how far behind the index is";
        }
        if (behind > terms.maxLag()) {
            return "the index is " + behind + " records behind, more than " + terms.maxLag();
        }
        // An engine that takes a batch for ever is behind by a few records only.
        Moment all = now.asOf();
        return all.age(clock).compareTo(terms.maxLagAge()) > 0
                ? "not known to have all that was written after " + all.wall()
                : wrong;
    }

    private Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("identities", size.identities());
        details.put("documents", size.documents());
        Long behind = behind();
        Duration age = age();
        if (behind != null) {
            details.put("behind", behind);
        }
        if (age != null) {
            details.put("ageSeconds", age.toMillis() / 1000.0);
        }
        Sighting seen = watch.last();
        Feed filling = serving == null ? main : null;
        Reindexing now = reindexing;
        if (now.isRunning()) {
            details.put("reached", now.reached());
            details.put("end", now.of());
        } else if (filling != null && seen != null) {
            details.put("reached", seen.end() - seen.behind(filling.taken()));
            details.put("end", seen.end());
        }
        String detail = trouble != null ? trouble : watch.trouble();
        if (detail != null) {
            details.put("detail", detail);
        }
        return details;
    }

    // The indexer's thread.

    private void keep() {
        Duration pause = FIRST_PAUSE;
        while (!stop.isAsked()) {
            long begun = System.nanoTime();
            try (IndexHome home = homes.open()) {
                try {
                    live(home);
                } catch (IndexUnavailableException e) {
                    inTrouble("the engine is waited for: " + e.getMessage());
                    throw e;
                } finally {
                    leave();
                }
            } catch (StoppedException e) {
                return;
            } catch (IndexUnavailableException e) {
                tools.meters().retried();
                inTrouble("the engine is waited for: " + e.getMessage());
            } catch (RuntimeException e) {
                log.error("The index cannot be kept for now", e);
                inTrouble(e.toString());
            } catch (Error e) {
                // Above all no memory, which there may be again: nobody else would begin anew.
                log.error("The index cannot be kept for now", e);
                inTrouble(e.toString());
            }
            boolean lasted = Duration.ofNanos(System.nanoTime() - begun).compareTo(LONGEST_PAUSE) > 0;
            pause = lasted ? FIRST_PAUSE : pause.multipliedBy(2);
            pause = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
            stop.isAskedWithin(pause);
        }
    }

    private void live(IndexHome home) throws IndexUnavailableException {
        SearchIndex opened = home.serving();
        Reached reached = opened.committed();
        if (reached.complete()) {
            answerFromBefore(opened, reached);
        }
        Sighting sighting = awaitSighting();
        SearchIndex left = home.building();
        String misfit = misfit(reached, sighting);
        if (misfit == null) {
            main = new Feed(opened, reached, sighting, tools);
            Served now = serving;
            if (now != null) {
                now.fedBy(main);
            }
        } else {
            // Nobody reads it any more: what it tells may be wrong for good.
            Served before = serving;
            serving = null;
            retire(before, opened);
        }
        if (left != null) {
            goOnWith(home, left, sighting);
        }
        if (main == null && beside == null) {
            rebuild(home, sighting, Objects.requireNonNull(misfit));
        }
        if (beside == null && wish.get() == Wish.NONE && reindexing.isRunning()) {
            // What an engine that failed has not kept.
            reindexing = reindexing.over(Reindexing.State.ENDED, clock.instant());
        }
        trouble = main == null ? "the index is built anew: " + misfit : null;
        while (!stop.isAsked()) {
            round(home);
        }
    }

    /** It had all once, and not long ago: that is worth more than no answer, until the brokers tell better. */
    private void answerFromBefore(SearchIndex opened, Reached reached) {
        Duration age = Duration.between(reached.asOf(), clock.instant());
        if (age.compareTo(TRUSTED_UNSEEN) < 0) {
            Served before =
                    new Served(opened, new Moment(System.nanoTime() - Math.max(0, age.toNanos()), reached.asOf()));
            serving = before;
            log.info("Answering as of {}", reached.asOf());
        }
    }

    private void round(IndexHome home) throws IndexUnavailableException {
        Sighting sighting = Objects.requireNonNull(watch.last());
        obey(home, sighting);
        boolean read = false;
        Feed feeding = main;
        if (feeding != null) {
            String misfit = feeding.misfit(sighting, trusted());
            try {
                read = misfit == null && feeding.step(beside == null ? POLL : Duration.ZERO);
            } catch (PlaceGoneException e) {
                misfit = e.getMessage();
            }
            if (misfit == null) {
                feeding.sighted(sighting);
                answerWhenComplete(feeding);
                purgeWhenDue(feeding);
            } else {
                unfeed(home, feeding, sighting, misfit);
            }
        }
        Feed building = beside;
        if (building != null) {
            read |= stepBeside(home, building, sighting);
        }
        dropRetired(home);
        lookAtSize();
        if (!read) {
            restFor(feeding, building);
        }
    }

    /** When there is nothing to poll for, since something is waited for. */
    private void restFor(@Nullable Feed feeding, @Nullable Feed building) {
        Duration rest = feeding == null ? POLL : feeding.rest();
        Duration restBeside = building == null ? rest : building.rest();
        Duration shorter = rest.compareTo(restBeside) < 0 ? rest : restBeside;
        if (shorter.isPositive()) {
            stop.isAskedWithin(shorter.compareTo(POLL) < 0 ? shorter : POLL);
        }
    }

    private void answerWhenComplete(Feed feeding) {
        Served now = serving;
        if (now == null && feeding.isComplete()) {
            answer(feeding);
            log.info("The index is complete");
        }
    }

    private void answer(Feed feeding) {
        Served next = new Served(feeding.index(), feeding.asOf());
        next.fedBy(feeding);
        serving = next;
        trouble = null;
        sizeLookedAt = System.nanoTime() - LOOK_AT_SIZE.toNanos();
        waiters.wakeAll();
    }

    /** The index that answers cannot be gone on with: another is built, and it answers until that is there. */
    private void unfeed(IndexHome home, Feed feeding, Sighting sighting, String misfit)
            throws IndexUnavailableException {
        inTrouble("the index is built anew: " + misfit);
        awaitPurge(feeding);
        feeding.disconnect();
        main = null;
        if (serving == null) {
            retire(null, feeding.index());
        }
        if (beside == null) {
            rebuild(home, sighting, misfit);
        }
    }

    private boolean stepBeside(IndexHome home, Feed building, Sighting sighting) throws IndexUnavailableException {
        String misfit = building.misfit(sighting, trusted());
        boolean read = false;
        try {
            read = misfit == null && building.step(main == null ? POLL : POLL_BESIDE);
        } catch (PlaceGoneException e) {
            misfit = e.getMessage();
        }
        if (misfit != null) {
            building.disconnect();
            beside = null;
            home.drop(building.index());
            rebuild(home, sighting, misfit);
            return true;
        }
        building.sighted(sighting);
        long behind = sighting.behind(building.taken());
        reindexing = reindexing.at(building.records(), sighting.end() - behind, sighting.end());
        Feed feeding = main;
        if (building.isComplete() && (feeding == null || building.hasTakenAllOf(feeding))) {
            takeOver(home, building);
        }
        return read;
    }

    /** From here on, and for the next start, the new index answers. */
    private void takeOver(IndexHome home, Feed building) throws IndexUnavailableException {
        building.refresh();
        building.commit();
        Feed before = main;
        if (before != null) {
            awaitPurge(before);
        }
        home.promote();
        if (before != null) {
            before.disconnect();
        }
        Served old = serving;
        main = building;
        beside = null;
        answer(building);
        reindexing = reindexing.over(Reindexing.State.DONE, clock.instant());
        log.info("Another index answers: {} changes", building.records());
        retire(old, before == null ? null : before.index());
    }

    /**
     * @param unserved an index that nobody reads, if it is not the one that was served
     */
    private void retire(@Nullable Served old, @Nullable SearchIndex unserved) {
        if (old != null) {
            old.retire();
            retired.add(old);
        } else if (unserved != null) {
            Served never = new Served(unserved, Moment.now(clock));
            never.retire();
            retired.add(never);
        }
    }

    private void dropRetired(IndexHome home) {
        Served oldest = retired.peek();
        if (oldest == null || !oldest.isIdle() || main == null || System.nanoTime() - dropAgainAt < 0) {
            return;
        }
        try {
            home.drop(oldest.index());
            retired.remove();
        } catch (IndexUnavailableException e) {
            log.warn("An index that does not answer any more is dropped later: {}", e.getMessage());
            dropAgainAt = System.nanoTime() + LONGEST_PAUSE.toNanos();
        }
    }

    private void goOnWith(IndexHome home, SearchIndex left, Sighting sighting) throws IndexUnavailableException {
        Reached reached = left.committed();
        String misfit = misfit(reached, sighting);
        if (misfit != null) {
            log.info("What was left of an index that was being built is dropped: {}", misfit);
            home.drop(left);
            return;
        }
        log.info("An index that was being built is gone on with");
        beside = new Feed(left, reached, sighting, tools);
        reindexing = new Reindexing(Reindexing.State.RUNNING, "was interrupted", clock.instant(), null, 0, 0, 0);
    }

    private void rebuild(IndexHome home, Sighting sighting, String why) throws IndexUnavailableException {
        log.warn("Building an index anew: {}", why);
        tools.meters().rebuilt();
        begin(home, sighting, why);
    }

    private void begin(IndexHome home, Sighting sighting, String why) throws IndexUnavailableException {
        SearchIndex left = home.building();
        if (left != null) {
            home.drop(left);
        }
        beside = new Feed(home.build(), Reached.NOTHING, sighting, tools);
        reindexing = new Reindexing(Reindexing.State.RUNNING, why, clock.instant(), null, 0, 0, sighting.end());
    }

    private void obey(IndexHome home, Sighting sighting) throws IndexUnavailableException {
        Feed building = beside;
        switch (wish.getAndSet(Wish.NONE)) {
            case NONE -> {}
            case REINDEX -> {
                if (building == null) {
                    begin(home, sighting, "asked for");
                }
            }
            case END -> {
                if (building == null && reindexing.isRunning()) {
                    reindexing = reindexing.over(Reindexing.State.ENDED, clock.instant());
                }
                if (building != null && main != null) {
                    building.disconnect();
                    beside = null;
                    home.drop(building.index());
                    reindexing = reindexing.over(Reindexing.State.ENDED, clock.instant());
                    log.info("The index that was being built is given up");
                }
            }
        }
    }

    private void purgeWhenDue(Feed feeding) {
        CompletableFuture<Boolean> running = purging;
        if (running != null) {
            if (running.isDone()) {
                awaitPurge(feeding);
            }
            return;
        }
        Instant owed = feeding.owedSince();
        // Half of the time is left for the rewriting itself.
        if (owed != null
                && feeding.isComplete()
                && System.nanoTime() - purgeAgainAt >= 0
                && Duration.between(owed, clock.instant())
                                .compareTo(terms.forgetAfter().dividedBy(2))
                        >= 0) {
            feeding.purgeBegins();
            CompletableFuture<Boolean> purge = new CompletableFuture<>();
            purging = purge;
            Thread.ofPlatform().name("index-purge").daemon(true).start(() -> purge.complete(purge(feeding.index())));
        }
    }

    private boolean purge(SearchIndex index) {
        long begun = System.nanoTime();
        try {
            index.purge();
            tools.meters().purges().record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
            return true;
        } catch (IndexUnavailableException e) {
            log.warn("Erased entries still stand in files, which will be tried again: {}", e.getMessage());
        } catch (RuntimeException e) {
            log.error("Erased entries still stand in files, which will be tried again", e);
        }
        return false;
    }

    /** An index must not be closed under a purge. */
    private void awaitPurge(Feed feeding) {
        CompletableFuture<Boolean> running = purging;
        if (running != null) {
            boolean succeeded = running.join();
            feeding.purgeEnds(succeeded);
            purging = null;
            purgeAgainAt = System.nanoTime() + (succeeded ? 0 : LONGEST_PAUSE.toNanos());
        }
    }

    private void lookAtSize() {
        Served now = serving;
        if (now == null || System.nanoTime() - sizeLookedAt < LOOK_AT_SIZE.toNanos()) {
            return;
        }
        sizeLookedAt = System.nanoTime();
        try {
            size = now.index().size();
        } catch (IndexUnavailableException e) {
            log.debug("The engine does not tell how large the index is", e);
        }
    }

    private @Nullable String misfit(Reached reached, Sighting sighting) {
        return sighting.misfit(reached, trusted(), clock.instant());
    }

    private Duration trusted() {
        return Objects.requireNonNull(watch.trusted(), "known as soon as anything was sighted");
    }

    private Sighting awaitSighting() {
        while (!stop.isAsked()) {
            Sighting seen = watch.last();
            if (seen != null) {
                return seen;
            }
            String silent = watch.trouble();
            inTrouble(silent == null ? "the brokers are asked" : silent);
            stop.isAskedWithin(POLL);
        }
        throw new StoppedException();
    }

    /** Keeps what was taken; whoever searches meanwhile is waited for, for a while. */
    private void leave() {
        Feed feeding = main;
        Feed building = beside;
        main = null;
        beside = null;
        Served now = serving;
        serving = null;
        if (now != null) {
            now.retire();
            retired.add(now);
        }
        if (feeding != null) {
            awaitPurge(feeding);
            feeding.close();
        }
        if (building != null) {
            building.close();
        }
        long end = System.nanoTime() + LEAVE.toNanos();
        while (retired.stream().anyMatch(each -> !each.isIdle()) && System.nanoTime() < end) {
            LockSupport.parkNanos(LOOK_AT_READERS.toNanos());
        }
        retired.clear();
    }

    private void inTrouble(String what) {
        if (!what.equals(trouble) && !stop.isAsked()) {
            log.warn("The index: {}", what);
        }
        trouble = what;
    }

    /** Stops feeding and keeps what was taken; within half a minute. */
    @Override
    public void close() {
        stop.ask();
        watch.close();
        try {
            if (thread.isAlive() && !thread.join(STOP)) {
                log.warn("The index was not left within {} s", STOP.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
