package dev.puri.search;

import dev.puri.search.IndexFeeder.OffsetGoneException;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexSize;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.FailureState;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.StoppedException;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a serving index and feeds it. One thread does this; {@link EndOffsetMonitor} asks the brokers for the end
 * offsets in another.
 *
 * <pre>
 *  puri.identities.v1 ─┐                    ┌───────────────────┐
 *  puri.documents.v1  ─┴─▶ IndexFeeder ────▶│ the serving index │◀──── searches
 *                                           └───────────────────┘
 *                                                     ▲ swap; the old index awaits its deletion
 *  from the beginning   ─▶ IndexFeeder ────▶ IndexRebuild: somebody asked for it, or the serving index
 *                                            cannot be fed any more
 *
 *  open ─▶ get the end offsets ─▶ does the index match the topics? ─▶ step · step · step …
 *    ▲                              │ no: rebuild                        │ anything unforeseen
 *    └────────── back off ◀─────────┴────────────────────────────────────┘
 * </pre>
 *
 * An index that has served once serves while brokers or schema registry are away; it is then not ready, and its answers
 * say how old they are. An engine that fails is opened again, and no index serves until it is. An index that does not
 * match the topics when it is opened does not serve: it may be of other topics, or show entries that were erased
 * meanwhile.
 */
final class Indexer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Indexer.class);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));
    private static final Duration SIZE_PERIOD = Duration.ofSeconds(10);

    private static final Duration LEAVE = Duration.ofSeconds(5);

    /** Before the brokers answer: Kafka keeps tombstones for a day by default. */
    private static final Duration TRUSTED_UNSEEN = Duration.ofHours(20);

    private static final Duration STOP = Duration.ofSeconds(30);

    private final EngineOpener engine;
    private final EndOffsetMonitor endOffsets;
    private final IndexFeeder.Tools tools;
    private final IndexHealth health;
    private final Waiters waiters;
    private final InstantSource clock;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("indexer", stop, RETRY_POLICY, this::keep, this::failed);

    /** The serving index; null before one was complete. */
    private volatile @Nullable ServingIndex serving;

    private final FailureState trouble = new FailureState("the engine is being opened");

    /** Why the index that served before is not open; null when it is, or none has served. */
    private volatile @Nullable String failure;

    private volatile IndexSize size = new IndexSize(0, 0, 0, 0);

    /** Feeds the serving index, or fills the first one; null when nothing does. Written by the indexer's thread. */
    private volatile @Nullable IndexFeeder main;

    private final IndexRebuild rebuild;

    // Of the indexer's thread alone.
    private final PurgeScheduler purges;
    private final DeletionQueue deletions = new DeletionQueue();
    private boolean hasServed;
    private long sizeReadAt = System.nanoTime() - SIZE_PERIOD.toNanos();

    /** Opens the search engine. */
    @FunctionalInterface
    interface EngineOpener {
        IndexStore open() throws IndexUnavailableException;
    }

    /**
     * @param maxLag the largest lag, in offsets, with which the index is ready
     * @param maxLagAge how old the end offsets may be that the lag is computed from
     * @param forgetAfter how long after an erasure its entry must be gone from the files
     */
    record Limits(long maxLag, Duration maxLagAge, Duration forgetAfter) {}

    /**
     * @param hanging describes a transaction that hides later records; null when there is none
     */
    Indexer(
            EngineOpener engine,
            EndOffsetMonitor endOffsets,
            IndexFeeder.Tools tools,
            Limits limits,
            Supplier<@Nullable String> hanging) {
        this.engine = engine;
        this.endOffsets = endOffsets;
        this.tools = tools;
        this.waiters = tools.waiters();
        this.clock = tools.clock();
        rebuild = new IndexRebuild(tools);
        health = new IndexHealth(this, rebuild, trouble, limits, clock, hanging);
        purges = new PurgeScheduler(limits.forgetAfter(), clock, tools.meters());
    }

    void start() {
        endOffsets.start();
        thread.start();
    }

    // For any thread.

    /**
     * Returns the serving index with its reference count raised, or null if no index was complete yet. The caller must
     * release it.
     */
    @Nullable
    ServingIndex acquire() {
        while (true) {
            ServingIndex now = serving;
            if (now == null || now.acquire()) {
                return now;
            }
            // Another index has replaced it meanwhile.
            Thread.onSpinWait();
        }
    }

    /** The serving index, which must not be read without {@link #acquire}; null if none was complete yet. */
    @Nullable
    ServingIndex serving() {
        return serving;
    }

    /** Why the index that served before does not serve now; null when it does, or none has served. */
    @Nullable
    String failure() {
        return failure;
    }

    /** The offsets up to which readers of the serving index see the topics. */
    NextOffsets seen() {
        ServingIndex now = serving;
        IndexFeeder feed = now == null ? null : now.feed();
        return feed == null ? NextOffsets.NONE : feed.seen();
    }

    EndOffsetMonitor endOffsets() {
        return endOffsets;
    }

    IndexHealth health() {
        return health;
    }

    /** Feeds the serving index, or fills the first one; null when nothing does. */
    @Nullable
    IndexFeeder main() {
        return main;
    }

    IndexSize size() {
        return size;
    }

    RebuildStatus rebuildStatus() {
        return rebuild.status();
    }

    /** Asks for a rebuild; does nothing while one runs. */
    void rebuild() {
        rebuild.ask();
    }

    /** Asks to cancel the running rebuild, unless the serving index cannot be fed any more. */
    void cancelRebuild() {
        rebuild.cancel();
    }

    // The indexer's thread.

    private void keep() throws IndexUnavailableException {
        try (IndexStore home = engine.open()) {
            try {
                serve(home);
            } catch (IndexUnavailableException e) {
                inTrouble("the engine is waited for: " + e.getMessage());
                // Before the index is closed, so that searches meanwhile get the cause.
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

    private void serve(IndexStore home) throws IndexUnavailableException {
        SearchIndex opened = home.serving();
        IndexCheckpoint reached = opened.committed();
        long readAt = System.nanoTime();
        if (reached.complete()) {
            serveFromBefore(opened, reached);
        }
        SourceOffsets source = awaitOffsets(reached, readAt);
        String mismatch = source.mismatch(reached, trusted(), clock.instant());
        if (mismatch == null) {
            main = new IndexFeeder(opened, reached, source, tools);
            ServingIndex now = serving;
            if (now != null) {
                now.feedBy(main);
            }
        } else {
            // Searches must not use it any more: its entries may be wrong for good.
            ServingIndex before = serving;
            serving = null;
            failure = null;
            deletions.add(before != null ? before : awaitingDeletion(opened));
            rebuild.need(mismatch);
        }
        if (main == null) {
            trouble.changeTo("the index is being rebuilt: " + mismatch);
        } else {
            trouble.clear();
        }
        while (!stop.isAsked()) {
            round(home);
        }
    }

    /** Lets an index serve that was complete not long ago, until the brokers report whether it matches the topics. */
    private void serveFromBefore(SearchIndex opened, IndexCheckpoint reached) {
        Duration age = Duration.between(reached.asOf(), clock.instant());
        if (age.compareTo(TRUSTED_UNSEEN) < 0) {
            ServingIndex before = new ServingIndex(
                    opened, new ObservationTime(System.nanoTime() - Math.max(0, age.toNanos()), reached.asOf()));
            serving = before;
            hasServed = true;
            failure = null;
            log.info("The index serves as of {}", reached.asOf());
        }
    }

    private void round(IndexStore home) throws IndexUnavailableException {
        SourceOffsets source = Objects.requireNonNull(endOffsets.last());
        boolean read = false;
        IndexFeeder feeding = main;
        if (feeding != null) {
            String mismatch = feeding.mismatch(source, trusted());
            try {
                read = mismatch == null && feeding.step(isRebuilding() ? Duration.ZERO : POLL);
            } catch (OffsetGoneException e) {
                mismatch = e.getMessage();
            }
            if (mismatch == null) {
                feeding.observe(source);
                serveWhenComplete(feeding);
                purges.step(feeding);
            } else {
                unfeed(feeding, mismatch);
            }
        }
        read |= rebuild.step(home, source, trusted(), main);
        IndexFeeder built = rebuild.built();
        if (built != null) {
            swap(home, built);
        }
        if (main != null) {
            deletions.deleteOldest(home, purges::isOf);
        }
        refreshSize();
        if (!read) {
            rest();
        }
    }

    private boolean isRebuilding() {
        IndexFeeder filling = rebuild.feed();
        return filling != null && filling.rest().isZero();
    }

    /** Waits while both feeders back off. */
    private void rest() {
        IndexFeeder feeding = main;
        IndexFeeder filling = rebuild.feed();
        Duration rest = feeding == null ? POLL : feeding.rest();
        Duration restOfRebuild = filling == null ? rest : filling.rest();
        Duration shorter = rest.compareTo(restOfRebuild) < 0 ? rest : restOfRebuild;
        if (shorter.isPositive()) {
            stop.isAskedWithin(shorter.compareTo(POLL) < 0 ? shorter : POLL);
        }
    }

    private void serveWhenComplete(IndexFeeder feeding) {
        ServingIndex now = serving;
        if (now == null && feeding.isComplete()) {
            startServing(feeding);
            log.info("The index is complete");
        }
    }

    private void startServing(IndexFeeder feeding) {
        ServingIndex next = new ServingIndex(feeding.index(), feeding.asOf());
        next.feedBy(feeding);
        serving = next;
        hasServed = true;
        failure = null;
        trouble.clear();
        sizeReadAt = System.nanoTime() - SIZE_PERIOD.toNanos();
        waiters.wakeAll();
    }

    /** The index cannot be fed any more. It serves until its rebuild replaces it. */
    private void unfeed(IndexFeeder feeding, String mismatch) {
        inTrouble("the index is being rebuilt: " + mismatch);
        feeding.disconnect();
        main = null;
        if (serving == null) {
            deletions.add(awaitingDeletion(feeding.index()));
        }
        rebuild.need(mismatch);
    }

    /** The rebuilt index serves from here on, also after a restart. */
    private void swap(IndexStore home, IndexFeeder built) throws IndexUnavailableException {
        home.promote();
        IndexFeeder before = main;
        if (before != null) {
            before.disconnect();
        }
        ServingIndex old = serving;
        main = built;
        startServing(built);
        rebuild.swapped();
        log.info("The rebuilt index serves: {} changes", built.records());
        if (old != null) {
            deletions.add(old);
        } else if (before != null) {
            deletions.add(awaitingDeletion(before.index()));
        }
    }

    private ServingIndex awaitingDeletion(SearchIndex index) {
        return new ServingIndex(index, ObservationTime.now(clock));
    }

    private void refreshSize() {
        ServingIndex now = serving;
        if (now == null || System.nanoTime() - sizeReadAt < SIZE_PERIOD.toNanos()) {
            return;
        }
        sizeReadAt = System.nanoTime();
        try {
            size = now.index().size();
        } catch (IndexUnavailableException e) {
            log.debug("The engine does not report the size of the index", e);
        }
    }

    private Duration trusted() {
        return Objects.requireNonNull(endOffsets.trusted(), "known once the brokers have answered");
    }

    /**
     * Waits for end offsets that the brokers reported after the index was opened. Earlier ones may lie before the
     * index's checkpoint, as if the index were of other topics. For an empty index any will do.
     */
    private SourceOffsets awaitOffsets(IndexCheckpoint reached, long readAt) {
        while (!stop.isAsked()) {
            SourceOffsets seen = endOffsets.last();
            if (seen != null && (reached.topicIds().isEmpty() || seen.at().nanos() - readAt >= 0)) {
                return seen;
            }
            String silent = endOffsets.trouble();
            inTrouble(silent == null ? "the brokers are asked" : silent);
            stop.isAskedWithin(POLL);
        }
        throw new StoppedException("stopped while asking the brokers for the ends of the topics");
    }

    /** Commits what the indices have taken, and waits a while for searches and a purge. */
    private void leave() {
        IndexFeeder feeding = main;
        main = null;
        ServingIndex now = serving;
        serving = null;
        if (now != null) {
            deletions.add(now);
        }
        try {
            purges.awaitEnd(LEAVE);
            if (feeding != null) {
                feeding.close();
            }
        } finally {
            try {
                rebuild.suspend();
            } finally {
                // When the engine is opened again, it has other objects for the same indices, one of which serves.
                deletions.awaitReaders(LEAVE);
            }
        }
    }

    private void noteFailure(@Nullable String why) {
        health.failed(String.valueOf(why));
        if (hasServed) {
            failure = String.valueOf(why);
        }
    }

    private void inTrouble(String what) {
        if (trouble.changeTo(what) && !stop.isAsked()) {
            log.warn("The index: {}", what);
        }
    }

    /** Stops feeding and commits; within half a minute. */
    @Override
    public void close() {
        // Read before the stop: after it the thread closes the feeder, and an interrupt would disturb its commit.
        boolean hasNothingToCommit = main == null;
        stop.ask();
        endOffsets.close();
        if (hasNothingToCommit) {
            // It may wait for an engine that does not answer.
            thread.interrupt();
        }
        if (!thread.join(STOP)) {
            log.warn("The index is still open {} s after the stop", STOP.toSeconds());
        }
    }
}
