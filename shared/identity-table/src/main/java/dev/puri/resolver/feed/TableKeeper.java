package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.LifeCycle;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.TopicAdmin.TopicUnavailableException;
import dev.puri.projection.TopicEnds;
import dev.puri.projection.Truncation;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides the serving table, keeps it current, and replaces it: if its feeder stops, if its topic is created again or
 * gets partitions, if the brokers were out of contact for days, or on request. One thread does this:
 *
 * <pre>
 * wait for the topic ─▶ fill a new table ─▶ swap it with the serving table ─▶ watch feeder and topic
 *         ▲                    │ fails                                            │ feeder stopped,
 *         └──── back off ◀─────┴──────────────────────────────────────────────────┘ topic was recreated,
 *                                                                                    rebuild was requested
 * </pre>
 *
 * A table is not filled from a topic that lacks records which the table still has to read. {@link DigestCheck} compares
 * the digests of the serving table with the registrar's, and {@link TableScrub} compares them with the stored rows.
 *
 * <p>If the feeder of the serving table stops, the table keeps serving its last rows until the new table is complete.
 * Meanwhile readiness is down, so that a load balancer chooses another resolver. An incomplete table never serves. A
 * table from a recreated topic waits while it has clearly fewer rows than the serving table.
 *
 * @param <C> type of the receiver of changes
 */
public final class TableKeeper<C extends RowChanges> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TableKeeper.class);
    private static final Duration WATCH_PERIOD = Duration.ofSeconds(1);

    /**
     * The minimum number of rows of a table from a recreated topic, in percent of the rows of the serving table. A
     * topic with fewer rows has lost records.
     */
    private static final int MIN_ROWS_PERCENT = 99;

    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));

    /**
     * A table without contact with the brokers for this time is replaced, because it may have missed tombstones. One
     * day less than the 7 days for which the brokers keep tombstones.
     */
    private static final Duration MAX_TIME_WITHOUT_CONTACT = Duration.ofDays(6);

    /**
     * More than the time to close the admin client (1 s), Kafka Streams (5 s), the writer (2 s) and snapshots (20 s).
     */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);

    private final Supplier<TopicAdmin> createAdmin;
    private final TableFeeder.Factory feederFactory;
    private final Snapshots snapshots;
    private final Waiters waiters;
    private final ChangeReceiverFactory<C> receiverFactory;
    private final long checkRate;
    private final InstantSource clock;
    private final Duration watchPeriod;
    private final Counter rebuilds;
    private final ReplacedTable replacedTable;
    private final Stop stop = new Stop();
    private final SupervisedThread thread;

    /** The serving table with the receiver of its changes, and the feeder of that table or of its replacement. */
    private final LifeCycle<LiveTable<C>, TableFeeder> lifeCycle = new LifeCycle<>(Topics.IDENTITIES);

    private final TableStatus status;

    /** The admin client of the current attempt; null before the first attempt. */
    private volatile @Nullable TopicAdmin topicAdmin;

    /** The topic of the serving table; null if no table was complete yet. Used only by the keeper's thread. */
    private @Nullable Uuid servingTopicId;

    /** Creates the receiver of the changes of a full table. */
    @FunctionalInterface
    public interface ChangeReceiverFactory<C extends RowChanges> {
        /**
         * Called by the thread that writes the table, before it writes the first record that follows the fill.
         *
         * @param topicId the id of the topic that feeds the table
         * @param nextOffsets by partition, the offset after the last record in the table
         * @param completeAt a time at which all records of the topic were before these offsets
         * @param hasIdentity tells whether the table has an identity with a pURI and uuid. Any thread may call it
         */
        C create(Uuid topicId, long[] nextOffsets, Instant completeAt, BiPredicate<Puri, UUID> hasIdentity);

        /**
         * The table of this receiver serves now. Called by the keeper's thread. Not called for a table that the keeper
         * does not accept, for example because it has too few rows.
         */
        default void serves(C receiver) {}
    }

    /**
     * A complete table and the receiver of its changes. Positions from the receiver, such as the cursor of a change
     * feed, are only valid for this table.
     *
     * @param <C> type of the receiver
     * @param changeReceiver receives each change after readers of the table can see it
     */
    public record LiveTable<C extends RowChanges>(PackedTable table, C changeReceiver) {}

    /**
     * @param createAdmin creates an admin client for the topic
     * @param feederFactory creates the feeder of a table
     * @param snapshots opens and writes snapshots of the table
     * @param waiters woken when a new table serves
     * @param receiverFactory creates the receiver of the serving table's changes
     * @param maxLag the maximum lag of a ready table, in records
     * @param maxLagAge the maximum age of the end offsets of a ready table
     * @param hangingTransaction describes an open transaction that hides later records; null if there is none
     * @param collector runs the garbage collector, which frees the off-heap memory of a replaced table. Does nothing in
     *     a process that the keeper shares with an application
     * @param checkRate the maximum number of rows and handles per second that are checked for damaged memory; 0 for no
     *     check
     */
    public TableKeeper(
            Supplier<TopicAdmin> createAdmin,
            TableFeeder.Factory feederFactory,
            Snapshots snapshots,
            Waiters waiters,
            ChangeReceiverFactory<C> receiverFactory,
            long maxLag,
            Duration maxLagAge,
            Supplier<@Nullable String> hangingTransaction,
            Runnable collector,
            long checkRate,
            InstantSource clock,
            MeterRegistry meters) {
        this(
                createAdmin,
                feederFactory,
                snapshots,
                waiters,
                receiverFactory,
                maxLag,
                maxLagAge,
                hangingTransaction,
                collector,
                checkRate,
                clock,
                meters,
                WATCH_PERIOD,
                RETRY_POLICY);
    }

    /**
     * For tests.
     *
     * @param watchPeriod the period of the checks of the topic and the table
     * @param retryPolicy the delays before the thread continues after a failure
     */
    TableKeeper(
            Supplier<TopicAdmin> createAdmin,
            TableFeeder.Factory feederFactory,
            Snapshots snapshots,
            Waiters waiters,
            ChangeReceiverFactory<C> receiverFactory,
            long maxLag,
            Duration maxLagAge,
            Supplier<@Nullable String> hangingTransaction,
            Runnable collector,
            long checkRate,
            InstantSource clock,
            MeterRegistry meters,
            Duration watchPeriod,
            RetryPolicy retryPolicy) {
        this.createAdmin = createAdmin;
        this.feederFactory = feederFactory;
        this.snapshots = snapshots;
        this.waiters = waiters;
        this.receiverFactory = receiverFactory;
        this.replacedTable = new ReplacedTable(collector);
        this.checkRate = checkRate;
        this.clock = clock;
        this.watchPeriod = watchPeriod;
        this.thread = new SupervisedThread("table-keeper", stop, retryPolicy, this::keepTable, this::onFailure);
        this.status = new TableStatus(lifeCycle, maxLag, maxLagAge, hangingTransaction, clock, meters);
        this.rebuilds = Counter.builder("puri.table.rebuilds")
                .description("Attempts to replace the serving table by a new table")
                .register(meters);
    }

    /** Starts the thread. Must be called once. */
    public void start() {
        thread.start();
    }

    /** Returns the serving table; null if no table was complete yet. */
    public @Nullable Table table() {
        LiveTable<C> serving = lifeCycle.serving();
        return serving == null ? null : serving.table();
    }

    /** Returns the serving table with the receiver of its changes; null if no table was complete yet. */
    public @Nullable LiveTable<C> liveTable() {
        return lifeCycle.serving();
    }

    /** Returns the readiness, lag and progress of the table. */
    public TableStatus status() {
        return status;
    }

    /**
     * Requests that a new table is filled from the beginning of the topic, without the snapshot, and replaces the
     * serving table. The serving table answers meanwhile, but is not ready.
     *
     * @return null if the rebuild begins; otherwise why there is none, as text for people
     */
    public @Nullable String requestRebuild() {
        String deletedRecords = status.deletedRecords();
        if (deletedRecords != null) {
            return deletedRecords;
        }
        if (!(lifeCycle.state() instanceof LifeCycle.Current)) {
            return "a rebuild cannot begin now: " + status.waitReason();
        }
        return status.rebuild().begin() ? null : "a rebuild is under way";
    }

    private void keepTable() {
        try (TopicAdmin admin = createAdmin.get()) {
            topicAdmin = admin;
            // close() may have run before the client existed. Then nothing would end its requests.
            if (!stop.isRequested()) {
                openAndFeed(admin);
            }
        } finally {
            lifeCycle.endRebuild();
            lifeCycle.detach();
        }
    }

    private void onFailure(Throwable cause) {
        if (cause instanceof TruncatedTopicException
                || cause instanceof KafkaException
                || cause instanceof TopicUnavailableException) {
            reportProblem(String.valueOf(cause.getMessage()));
        } else {
            log.error("Filling or feeding the table failed; it will be tried again", cause);
            reportProblem(cause.toString());
        }
    }

    /**
     * Opens the snapshot or creates a table, fills it and feeds it. Returns or throws when the feeder must be replaced,
     * or when the keeper stops.
     */
    private void openAndFeed(TopicAdmin admin) {
        TopicEnds endsAtStart = awaitResponse(() -> readEnds(admin));
        if (stop.isRequested()) {
            return;
        }
        if (lifeCycle.serving() != null) {
            rebuilds.increment();
        }
        PackedTable newTable = status.rebuild().isRunning() ? new PackedTable() : snapshots.open(admin, endsAtStart);
        try {
            requireComplete(admin.beginningOffsets(endsAtStart), newTable);
            fillAndFeed(admin, endsAtStart, newTable);
        } finally {
            if (table() != newTable) {
                // The table never served, so it has no readers. The next attempt needs its memory.
                newTable.release();
            }
        }
    }

    private void fillAndFeed(TopicAdmin admin, TopicEnds endsAtStart, PackedTable newTable) {
        log.info(
                "Filling the table from {}: {} partitions, {} records",
                Topics.IDENTITIES,
                endsAtStart.byPartition().size(),
                endsAtStart.lag(newTable::nextOffset));
        FedTable fed = FedTable.of(newTable, endsAtStart, clock);
        // Closed after the feeder, so that the last snapshot has all rows.
        try (Snapshots.SnapshotWriting writing = snapshots.writerOf(fed);
                TableScrub scrub =
                        new TableScrub(newTable, fed.partitions(), fed.digests(), checkRate, status.scrubFailure())) {
            feed(admin, fed, writing, scrub);
        }
    }

    /** Throws if the brokers have deleted records that the table still has to read. */
    private static void requireComplete(Map<Integer, Long> logStartOffsets, PackedTable newTable) {
        Map<Integer, Long> unreadStarts = new HashMap<>(logStartOffsets);
        unreadStarts.entrySet().removeIf(start -> start.getValue() <= newTable.snapshotOffset(start.getKey()));
        String deletedRecords = Truncation.reason(Topics.IDENTITIES, unreadStarts);
        if (deletedRecords != null) {
            throw new TruncatedTopicException(deletedRecords);
        }
    }

    /** A table cannot be filled, because the topic lacks records. */
    private static final class TruncatedTopicException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TruncatedTopicException(String message) {
            super(message);
        }
    }

    private void feed(TopicAdmin admin, FedTable fed, Snapshots.SnapshotWriting writing, TableScrub scrub) {
        PackedTable newTable = fed.table();
        TopicEnds endsAtStart = fed.endsAtStart();
        try (TableFeeder newFeeder = feederFactory.create(newTable, fed.digests(), fed.partitions())) {
            if (lifeCycle.serving() == null) {
                lifeCycle.fill(newFeeder);
            } else {
                lifeCycle.rebuild(newFeeder);
            }
            status.noteProblem("the table is being filled");
            if (stop.isRequested()) {
                return;
            }
            newFeeder.start();
            AtomicReference<@Nullable C> createdReceiver = new AtomicReference<>();
            newFeeder.reportChanges(nextOffsets -> {
                C created = receiverFactory.create(
                        endsAtStart.topicId(), nextOffsets, endsAtStart.at().wall(), (puri, uuid) -> {
                            Identity identity = newTable.byPuri(puri);
                            return identity != null && identity.row().uuid().equals(uuid);
                        });
                createdReceiver.set(created);
                return created;
            });
            C changeReceiver = Objects.requireNonNull(createdReceiver.get());
            if (!awaitRows(admin, newFeeder, endsAtStart)) {
                return;
            }
            // Again, because records may have been deleted before the feeder read them.
            requireComplete(awaitResponse(() -> admin.beginningOffsets(endsAtStart)), newTable);
            replacedTable.replace(table());
            // Before the table serves, so that the staleness of a ready table is known.
            fed.staleness().noteComplete(endsAtStart.at());
            status.noteComplete(fed);
            servingTopicId = endsAtStart.topicId();
            // Before the next rebuild can be requested.
            status.rebuild().complete();
            LiveTable<C> liveTable = new LiveTable<>(newTable, changeReceiver);
            if (lifeCycle.serving() == null) {
                lifeCycle.complete(liveTable);
            } else {
                lifeCycle.swap(liveTable);
            }
            // After the swap, so that a look-up after a change is not answered by the former table.
            receiverFactory.serves(changeReceiver);
            waiters.wakeAll();
            // Before the table is ready, so that each stop of a ready table writes a snapshot.
            writing.start();
            scrub.start();
            status.clearProblem();
            log.info("The table is complete: {} rows", newTable.rows());
            replacedTable.collectIfInMemory();
            watch(admin, newFeeder, fed, changeReceiver);
        }
    }

    /**
     * Waits until a new table has about as many rows as the serving one. Otherwise look-ups would answer "unknown" for
     * the rows that a recreated topic does not have yet. Returns false if the feeder must be replaced.
     */
    private boolean awaitRows(TopicAdmin admin, TableFeeder newFeeder, TopicEnds endsAtStart) {
        // In the same topic, fewer rows mean erasures.
        Table serving = endsAtStart.topicId().equals(servingTopicId) ? null : table();
        while (serving != null && newFeeder.table().rows() * 100L < serving.rows() * MIN_ROWS_PERCENT) {
            reportProblem(Topics.IDENTITIES + " has " + newFeeder.table().rows() + " rows, and the serving table has "
                    + serving.rows()
                    + "; the serving table is kept until the topic has as many rows again, or until the"
                    + " resolver is restarted");
            if (stop.awaitRequest(watchPeriod) || !newFeeder.isRunning()) {
                return false;
            }
            try {
                if (!readEnds(admin).isOfTheSameTopic(endsAtStart)) {
                    return false;
                }
            } catch (TopicUnavailableException e) {
                reportProblem(String.valueOf(e.getMessage()));
            }
        }
        return true;
    }

    /**
     * Repeats a request until the brokers respond.
     *
     * @throws TopicUnavailableException if the keeper stops before the brokers respond
     */
    private <T> T awaitResponse(Supplier<T> request) {
        while (true) {
            try {
                return request.get();
            } catch (TopicUnavailableException e) {
                reportProblem(String.valueOf(e.getMessage()));
                if (stop.awaitRequest(watchPeriod)) {
                    throw e;
                }
            }
        }
    }

    private void watch(TopicAdmin admin, TableFeeder currentFeeder, FedTable fed, RowChanges changeReceiver) {
        while (!stop.awaitRequest(watchPeriod)) {
            replacedTable.collectIfInMemory();
            if (status.rebuild().isRunning()) {
                log.info("The table is rebuilt on request");
                status.noteProblem("the table is being rebuilt");
                return;
            }
            if (!currentFeeder.isRunning()) {
                reportProblem("the Kafka Streams client of the table has stopped: " + currentFeeder.stopReason());
                return;
            }
            try {
                ObservationTime lastContact = status.lastContact();
                TopicEnds currentEnds = readEnds(admin);
                if (!currentEnds.isOfTheSameTopic(fed.endsAtStart())) {
                    reportProblem(
                            Topics.IDENTITIES + " was deleted and created again, or its number of partitions changed");
                    return;
                }
                if (lastContact.age(clock).compareTo(MAX_TIME_WITHOUT_CONTACT) > 0) {
                    reportProblem("the table has had no contact with the brokers since " + lastContact.wall()
                            + " and may have missed erasures");
                    return;
                }
                status.noteLogStarts(admin.beginningOffsets(currentEnds));
                status.clearProblem();
                fed.staleness().observe(currentEnds);
                ObservationTime completeAt = fed.staleness().completeUpTo();
                if (completeAt != null) {
                    changeReceiver.completeAt(completeAt.wall());
                }
            } catch (TopicUnavailableException e) {
                reportProblem(String.valueOf(e.getMessage()));
            }
        }
    }

    private TopicEnds readEnds(TopicAdmin admin) {
        TopicEnds currentEnds = admin.endOffsets(clock);
        status.noteEnds(currentEnds);
        return currentEnds;
    }

    private void reportProblem(String newProblem) {
        if (status.noteProblem(newProblem) && !stop.isRequested()) {
            log.warn("The table cannot be kept current: {}", newProblem);
        }
    }

    /**
     * Stops the feed and waits for the last snapshot. Takes at most 30 s, even while the table is being filled.
     */
    @Override
    public void close() {
        stop.request();
        TopicAdmin admin = topicAdmin;
        if (admin != null) {
            admin.close();
        }
        LifeCycle.State<LiveTable<C>, TableFeeder> state = lifeCycle.state();
        TableFeeder filling = state.serving() == null ? state.feeder() : state.rebuildFeeder();
        if (filling != null) {
            filling.abandon();
        }
        if (!thread.join(CLOSE_TIMEOUT)) {
            log.warn("The thread of the table did not stop within {} s", CLOSE_TIMEOUT.toSeconds());
        }
    }
}
