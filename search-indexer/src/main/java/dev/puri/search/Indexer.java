package dev.puri.search;

import dev.puri.http.Health;
import dev.puri.search.Feed.PlaceGoneException;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.Moment;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.SupervisedThread.Pauses;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
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
 * What has answered once goes on answering while brokers or schema registry are away; it is then not ready, and
 * its answers say how old they are. An engine that fails is opened anew: until it is, nothing answers. An index that
 * does not fit the topics when it is opened is not answered from: it may be of another topic, or show what was
 * erased meanwhile.
 */
final class Indexer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Indexer.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Pauses PAUSES = new Pauses(Duration.ofMillis(200), Duration.ofSeconds(10));
    private static final Duration LOOK_AT_SIZE = Duration.ofSeconds(10);

    /** A disk that is full fails again within that, although the index is opened and fed in between. */
    private static final Duration FAILURE_TOLD = Duration.ofMinutes(1);

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
    private final Supplier<@Nullable String> hanging;
    private final Stop stop = new Stop();
    private final SupervisedThread thread = new SupervisedThread("indexer", stop, PAUSES, this::keep, this::failed);

    /** What answers; null before anything was complete. */
    private volatile @Nullable Served serving;

    private volatile @Nullable String trouble = "the engine is being opened";

    /** Why an index that had answered is not open; null when it is, or none has answered. */
    private volatile @Nullable String failure;

    private volatile @Nullable Failure lastFailure;

    private volatile IndexSize size = new IndexSize(0, 0, 0, 0);

    /** Feeds the index that answers, or is filled for the first time; null when nothing does. Written by the indexer's thread. */
    private volatile @Nullable Feed main;

    private final Beside beside;

    // Of the indexer's thread alone.
    private final Purging purging;
    private final Retired retired = new Retired();
    private boolean hasAnswered;
    private long sizeLookedAt = System.nanoTime() - LOOK_AT_SIZE.toNanos();

    /** Opens the engine's indices. */
    @FunctionalInterface
    interface Homes {
        IndexStore open() throws IndexUnavailableException;
    }

    /**
     * @param maxLag offsets that the index may be behind and still be ready
     * @param maxLagAge how old the knowledge of that may be
     * @param forgetAfter within what time erased entries are gone from files
     */
    record Terms(long maxLag, Duration maxLagAge, Duration forgetAfter) {}

    /** What the engine could not do, and when. */
    private record Failure(String why, Moment at) {}

    /** What was running is cut off by a stop. */
    private static final class StoppedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /**
     * @param hanging the transaction that hides what was committed after it; null when there is none
     */
    Indexer(Homes homes, TopicsWatch watch, Feed.Tools tools, Terms terms, Supplier<@Nullable String> hanging) {
        this.homes = homes;
        this.watch = watch;
        this.tools = tools;
        this.terms = terms;
        this.waiters = tools.waiters();
        this.clock = tools.clock();
        this.hanging = hanging;
        beside = new Beside(tools);
        purging = new Purging(terms.forgetAfter(), clock, tools.meters());
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

    /** Why an index that had answered does not for now; null when none fails. */
    @Nullable
    String failure() {
        return failure;
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
        return beside.progress();
    }

    /** Asks for an index that is built anew beside the one that answers; nothing changes when one is. */
    void reindex() {
        beside.ask();
    }

    /** Asks for the one that is built to be given up, unless what answers cannot be gone on with. */
    void endReindexing() {
        beside.giveUp();
    }

    boolean isReady() {
        return unready() == null;
    }

    /** Offsets between the index that answers and its topics' ends; null when not known. */
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

    /** Up while an index answers that was complete once. */
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
            Feed filling = main;
            String waits = filling != null ? filling.trouble() : beside.trouble();
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
            return "the index is " + behind + " offsets behind, more than " + terms.maxLag();
        }
        // An engine that takes a batch for ever is behind by a few records only.
        Moment all = now.asOf();
        if (all.age(clock).compareTo(terms.maxLagAge()) > 0) {
            return "not known to have all that was written after " + all.wall();
        }
        return wrong != null ? wrong : hanging.get();
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
        Reindexing now = reindexing();
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
        Failure failed = lastFailure;
        if (failed != null && failed.at().age(clock).compareTo(FAILURE_TOLD) < 0) {
            details.put("lastFailure", failed.why());
        }
        return details;
    }

    // The indexer's thread.

    private void keep() throws IndexUnavailableException {
        try (IndexStore home = homes.open()) {
            try {
                live(home);
            } catch (IndexUnavailableException e) {
                inTrouble("the engine is waited for: " + e.getMessage());
                // Before the index is left, so that searches meanwhile get the cause.
                noteFailure(e.getMessage());
                throw e;
            } finally {
                leave();
            }
        }
    }

    private void failed(Throwable cause) {
        if (cause instanceof IndexUnavailableException) {
            tools.meters().retried();
            inTrouble("the engine is waited for: " + cause.getMessage());
            noteFailure(cause.getMessage());
        } else {
            log.error("The index cannot be kept for now", cause);
            inTrouble(cause.toString());
            noteFailure(cause.toString());
        }
    }

    private void live(IndexStore home) throws IndexUnavailableException {
        SearchIndex opened = home.serving();
        IndexCheckpoint reached = opened.committed();
        long readAt = System.nanoTime();
        if (reached.complete()) {
            answerFromBefore(opened, reached);
        }
        Sighting sighting = awaitSighting(reached, readAt);
        String misfit = sighting.misfit(reached, trusted(), clock.instant());
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
            failure = null;
            retired.add(before != null ? before : unserved(opened));
            beside.need(misfit);
        }
        trouble = main == null ? "the index is built anew: " + misfit : null;
        while (!stop.isAsked()) {
            round(home);
        }
    }

    /** It had all once, and not long ago: that is worth more than no answer, until the brokers tell better. */
    private void answerFromBefore(SearchIndex opened, IndexCheckpoint reached) {
        Duration age = Duration.between(reached.asOf(), clock.instant());
        if (age.compareTo(TRUSTED_UNSEEN) < 0) {
            Served before =
                    new Served(opened, new Moment(System.nanoTime() - Math.max(0, age.toNanos()), reached.asOf()));
            serving = before;
            hasAnswered = true;
            failure = null;
            log.info("Answering as of {}", reached.asOf());
        }
    }

    private void round(IndexStore home) throws IndexUnavailableException {
        Sighting sighting = Objects.requireNonNull(watch.last());
        boolean read = false;
        Feed feeding = main;
        if (feeding != null) {
            String misfit = feeding.misfit(sighting, trusted());
            try {
                read = misfit == null && feeding.step(isFillingBeside() ? Duration.ZERO : POLL);
            } catch (PlaceGoneException e) {
                misfit = e.getMessage();
            }
            if (misfit == null) {
                feeding.sighted(sighting);
                answerWhenComplete(feeding);
                purging.step(feeding);
            } else {
                unfeed(feeding, misfit);
            }
        }
        read |= beside.step(home, sighting, trusted(), main);
        Feed built = beside.built();
        if (built != null) {
            takeOver(home, built);
        }
        if (main != null) {
            retired.drop(home, purging::isOf);
        }
        lookAtSize();
        if (!read) {
            rest();
        }
    }

    private boolean isFillingBeside() {
        Feed filling = beside.feed();
        return filling != null && filling.rest().isZero();
    }

    /** When there is nothing to poll for, since something is waited for. */
    private void rest() {
        Feed feeding = main;
        Feed filling = beside.feed();
        Duration rest = feeding == null ? POLL : feeding.rest();
        Duration restBeside = filling == null ? rest : filling.rest();
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
        hasAnswered = true;
        failure = null;
        trouble = null;
        sizeLookedAt = System.nanoTime() - LOOK_AT_SIZE.toNanos();
        waiters.wakeAll();
    }

    /** The index that answers cannot be gone on with: another is built, and it answers until that is there. */
    private void unfeed(Feed feeding, String misfit) {
        inTrouble("the index is built anew: " + misfit);
        feeding.disconnect();
        main = null;
        if (serving == null) {
            retired.add(unserved(feeding.index()));
        }
        beside.need(misfit);
    }

    /** From here on, and for the next start, the new index answers. */
    private void takeOver(IndexStore home, Feed built) throws IndexUnavailableException {
        home.promote();
        Feed before = main;
        if (before != null) {
            before.disconnect();
        }
        Served old = serving;
        main = built;
        answer(built);
        beside.tookOver();
        log.info("Another index answers: {} changes", built.records());
        if (old != null) {
            retired.add(old);
        } else if (before != null) {
            retired.add(unserved(before.index()));
        }
    }

    private Served unserved(SearchIndex index) {
        return new Served(index, Moment.now(clock));
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

    private Duration trusted() {
        return Objects.requireNonNull(watch.trusted(), "known as soon as anything was sighted");
    }

    /**
     * What was told since the index was opened: of before it may go less far than the index, which would seem to be
     * of other topics. Of an empty one nothing can seem so.
     */
    private Sighting awaitSighting(IndexCheckpoint reached, long readAt) {
        while (!stop.isAsked()) {
            Sighting seen = watch.last();
            if (seen != null && (reached.topicIds().isEmpty() || seen.at().nanos() - readAt >= 0)) {
                return seen;
            }
            String silent = watch.trouble();
            inTrouble(silent == null ? "the brokers are asked" : silent);
            stop.isAskedWithin(POLL);
        }
        throw new StoppedException();
    }

    /** Keeps what was taken; whoever searches or purges meanwhile is waited for, for a while. */
    private void leave() {
        Feed feeding = main;
        main = null;
        Served now = serving;
        serving = null;
        if (now != null) {
            retired.add(now);
        }
        try {
            purging.leave(LEAVE);
            if (feeding != null) {
                feeding.close();
            }
        } finally {
            try {
                beside.leave();
            } finally {
                // An engine that is opened anew has others of the same names, one of which serves.
                retired.leave(LEAVE);
            }
        }
    }

    private void noteFailure(@Nullable String why) {
        lastFailure = new Failure(String.valueOf(why), Moment.now(clock));
        if (hasAnswered) {
            failure = String.valueOf(why);
        }
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
        // Looked at before the stop: after it the thread gives up the feed, and an interrupt would disturb that.
        boolean keepsNothing = main == null;
        stop.ask();
        watch.close();
        if (keepsNothing) {
            // It may be waiting for an engine that does not answer.
            thread.interrupt();
        }
        if (!thread.join(STOP)) {
            log.warn("The index was not left within {} s", STOP.toSeconds());
        }
    }
}
