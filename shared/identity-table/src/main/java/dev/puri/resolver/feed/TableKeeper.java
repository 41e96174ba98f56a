package dev.puri.resolver.feed;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.DigestCheck;
import dev.puri.tail.FailureState;
import dev.puri.tail.LifeCycle;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.TopicAdmin;
import dev.puri.tail.TopicAdmin.TopicUnavailableException;
import dev.puri.tail.TopicEnds;
import dev.puri.tail.Truncation;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Provides the serving table, keeps it current, and replaces it if its feeder dies or its topic is created again. One
 * thread does this:
 *
 * <pre>
 * wait for the topic ─▶ fill a new table ─▶ swap it with the serving table ─▶ watch feeder and topic
 *         ▲                    │ fails                                            │ feeder is dead,
 *         └──── back off ◀─────┴──────────────────────────────────────────────────┘ topic was recreated,
 *                                                                                    rebuild was requested
 * </pre>
 *
 * A table is not filled from a topic whose first records were deleted, because it would lack rows. {@link DigestCheck}
 * compares the serving table with the registrar, and {@link TableScrub} with itself.
 *
 * <p>If the feeder of the serving table dies, the table keeps serving its last rows until the new table is complete.
 * Meanwhile readiness is down, so that a load balancer chooses another resolver. An incomplete table never serves. A
 * complete one that has fewer rows than the serving table waits, because its topic has lost records.
 *
 * @param <C> type of the receiver of changes
 */
public final class TableKeeper<C extends RowChanges> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TableKeeper.class);
    private static final Duration WATCH_PERIOD = Duration.ofSeconds(1);

    /**
     * A new table replaces the serving one only if it has this percentage of its rows. Rows disappear only by erasure, so
     * a table with fewer rows was filled from a topic that has lost records.
     */
    private static final int MIN_ROWS_PERCENT = 99;

    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));

    /**
     * A table without contact to the brokers for this time is replaced, because it may have missed tombstones. One day
     * less than the 7 days for which the brokers keep tombstones.
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
    private final long maxLag;
    private final Duration maxLagAge;
    private final Supplier<@Nullable String> hangingTransaction;
    private final long checkRate;
    private final InstantSource clock;
    private final Counter rebuilds;
    private final ReplacedTable replacedTable;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("table-keeper", stop, RETRY_POLICY, this::keepTable, this::onFailure);

    /** The serving table with the receiver of its changes, and the feeder of that table or of its replacement. */
    private final LifeCycle<LiveTable<C>, TableFeeder> lifeCycle = new LifeCycle<>(Topics.IDENTITIES);

    /** The last known time at which the serving table had all records; null if no table was complete yet. */
    private volatile @Nullable ObservationTime asOf;

    /** The admin client of the current attempt; null before the first attempt. */
    private volatile @Nullable TopicAdmin topicAdmin;

    /** The end offsets that the brokers reported last; null if they never did. */
    private volatile @Nullable TopicEnds ends;

    /** The comparisons of the serving table with the registrar; null if no table was complete yet. */
    private volatile @Nullable DigestCheck digests;

    private final TableRebuild rebuild;

    /** Which records the brokers have deleted from the topic. */
    private final FailureState truncation = new FailureState();

    /** The topic of the serving table; null if no table was complete yet. Used only by the keeper's thread. */
    private @Nullable Uuid servingTopicId;

    /** Why the table cannot be fed, as text for people. */
    private final FailureState problem = new FailureState("not begun");

    /** Creates the receiver of the changes of a complete table. */
    @FunctionalInterface
    public interface ChangeReceiverFactory<C extends RowChanges> {
        /**
         * Called by the thread that writes the table, before the first live record.
         *
         * @param topicId the id of the topic that feeds the table
         * @param beginOffsets by partition, the offset after the last record in the table
         * @param completeAt a time at which the topic had no records at or after these offsets
         * @param hasIdentity tells whether the table has an identity with a pURI and uuid. Any thread may call it
         */
        C create(Uuid topicId, long[] beginOffsets, Instant completeAt, BiPredicate<Puri, UUID> hasIdentity);
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
     * @param checkRate the maximum number of rows per second that are compared with their digests; 0 for none
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
        this.createAdmin = createAdmin;
        this.feederFactory = feederFactory;
        this.snapshots = snapshots;
        this.waiters = waiters;
        this.receiverFactory = receiverFactory;
        this.maxLag = maxLag;
        this.maxLagAge = maxLagAge;
        this.hangingTransaction = hangingTransaction;
        this.replacedTable = new ReplacedTable(collector);
        this.checkRate = checkRate;
        this.clock = clock;
        this.rebuild = new TableRebuild(clock);
        this.rebuilds = Counter.builder("puri.table.rebuilds")
                .description("Attempts to replace the serving table by a new table")
                .register(meters);
        Gauge.builder("puri.table.rows", this, keeper -> keeper.rows(keeper.table()))
                .description("Identities in the serving table")
                .register(meters);
        Gauge.builder("puri.table.bytes", this, keeper -> keeper.stats(TableStats::bytes))
                .description("Off-heap memory of the serving table")
                .register(meters);
        Gauge.builder("puri.table.load", this, keeper -> keeper.stats(TableStats::load))
                .description("Load factor of the index of the serving table, 0 to 1")
                .register(meters);
        Gauge.builder("puri.table.lag", this, TableKeeper::lagOrNaN)
                .description("Lag of the serving table in records; NaN if unknown")
                .register(meters);
        Gauge.builder("puri.table.lag.seconds", this, keeper -> {
                    Duration staleness = keeper.staleness();
                    return staleness == null ? Double.NaN : staleness.toMillis() / 1000.0;
                })
                .description("Time since the serving table was known to have all records; NaN before it was complete")
                .register(meters);
        Gauge.builder("puri.table.restored.records", this, keeper -> keeper.fillProgress(FillProgress::reached))
                .description("Offsets that the table has reached, while it is filled and afterwards")
                .register(meters);
        Gauge.builder("puri.table.restore.end.records", this, keeper -> keeper.fillProgress(FillProgress::end))
                .description("End offsets that the table has to reach")
                .register(meters);
        DigestCheck.meter(Topics.IDENTITIES, () -> digests, meters);
        Gauge.builder("puri.table.ready", this, keeper -> keeper.unreadyReason() == null ? 1 : 0)
                .description("1 if the serving table is fed and close to the end of its topic, otherwise 0")
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

    /** Returns the number of partitions of the topic and of the shared events topic; 0 if not known yet. */
    public int partitions() {
        TopicEnds lastEnds = ends;
        return lastEnds == null ? 0 : lastEnds.byPartition().size();
    }

    /** Returns whether the serving table is fed and its lag is small. */
    public boolean isReady() {
        return unreadyReason() == null;
    }

    /** Returns why requests have to wait, as text for people. */
    public String waitReason() {
        return Objects.requireNonNullElse(unreadyReason(), "the table is complete now");
    }

    /** Returns why rows of the serving table may be stale or missing, or null if the table is ready. */
    public @Nullable String unreadyReason() {
        return readiness().unreadyReason(maxLag, maxLagAge);
    }

    private TableReadiness readiness() {
        LifeCycle.State<LiveTable<C>, TableFeeder> state = lifeCycle.state();
        TableFeeder feeder = state.feeder();
        TopicEnds lastEnds = ends;
        return new TableReadiness(
                state instanceof LifeCycle.Current,
                feeder != null && feeder.isRunning(),
                feeder == null ? null : feeder.schemaRegistryProblem(),
                problem.reason(),
                wrongContent(),
                lastEnds == null || feeder == null ? 0 : lastEnds.lag(feeder.table()::nextOffset),
                lastEnds == null ? null : lastEnds.at().age(clock),
                hangingTransaction.get());
    }

    private @Nullable String wrongContent() {
        DigestCheck check = digests;
        String deletedRecords = truncation.reason();
        return deletedRecords != null || check == null ? deletedRecords : check.reason();
    }

    /**
     * Returns the digests of the serving table and their comparisons with the registrar, as the JSON of {@code GET
     * /v1/digest}; null if no table was complete yet.
     */
    public @Nullable Map<String, Object> digests() {
        LiveTable<C> serving = lifeCycle.serving();
        DigestCheck check = digests;
        if (serving == null || check == null) {
            return null;
        }
        PackedTable table = serving.table();
        List<Map<String, Object>> partitions = new ArrayList<>();
        for (int partition = 0; partition < partitions(); partition++) {
            partitions.add(check.toJson(partition, table.nextOffset(partition), table.digest(partition)));
        }
        return Map.of("topics", List.of(DigestCheck.topicJson(Topics.IDENTITIES, partitions)));
    }

    /**
     * Requests that a new table is filled from the beginning of the topic, without the snapshot, and replaces the
     * serving table. The serving table answers meanwhile, but is not ready.
     *
     * @return null if the rebuild begins; otherwise why there is none, as text for people
     */
    public @Nullable String requestRebuild() {
        String deletedRecords = truncation.reason();
        if (deletedRecords != null) {
            return deletedRecords;
        }
        if (!(lifeCycle.state() instanceof LifeCycle.Current)) {
            return "no table is kept current now: " + waitReason();
        }
        return rebuild.begin() ? null : "a rebuild is under way";
    }

    /** Returns the progress of the rebuild that was requested last, as the JSON of {@code GET /v1/table/rebuild}. */
    public Map<String, Object> rebuildStatus() {
        Map<String, Object> status = rebuild.toJson();
        status.put("rows", (long) rows(filledOrServing()));
        FillProgress progress = fillProgress();
        if (progress != null) {
            status.put("reached", progress.reached());
            status.put("end", progress.end());
        }
        String detail = problem.reason();
        if (detail != null) {
            status.put("detail", detail);
        }
        return status;
    }

    /** Returns rows and offsets of the table that is filled or fed, for people and dashboards. */
    public Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        Table currentTable = filledOrServing();
        FillProgress progress = fillProgress();
        String detail = problem.reason();
        details.put("topic", Topics.IDENTITIES);
        details.put("rows", (long) rows(currentTable));
        if (progress != null) {
            details.put("reached", progress.reached());
            details.put("end", progress.end());
            details.put("behind", progress.end() - progress.reached());
        }
        if (detail != null) {
            details.put("detail", detail);
        }
        if (rebuild.isRunning()) {
            details.put("rebuild", "running");
        }
        return details;
    }

    /**
     * The progress of a table in offsets, summed over the partitions.
     *
     * @param reached the sum of the offsets that the table has reached
     * @param end the sum of the end offsets that the brokers reported last
     */
    public record FillProgress(long reached, long end) {}

    /** Returns the progress of the table that is filled or fed; null if there is no table or no end offsets yet. */
    public @Nullable FillProgress fillProgress() {
        Table currentTable = filledOrServing();
        TopicEnds lastEnds = ends;
        if (lastEnds == null || currentTable == null) {
            return null;
        }
        long end = lastEnds.ends().total();
        return new FillProgress(end - lastEnds.lag(currentTable::nextOffset), end);
    }

    /** Returns the table that the feeder fills or keeps current; without a feeder, the serving table. */
    private @Nullable Table filledOrServing() {
        LifeCycle.State<LiveTable<C>, TableFeeder> state = lifeCycle.state();
        TableFeeder feeder = state.feeder();
        LiveTable<C> serving = state.serving();
        return feeder != null ? feeder.table() : serving == null ? null : serving.table();
    }

    private double fillProgress(ToDoubleFunction<FillProgress> field) {
        FillProgress progress = fillProgress();
        return progress == null ? Double.NaN : field.applyAsDouble(progress);
    }

    private double stats(ToDoubleFunction<TableStats> field) {
        Table servingTable = table();
        return servingTable == null ? 0 : field.applyAsDouble(servingTable.stats());
    }

    private double rows(@Nullable Table counted) {
        return counted == null ? 0 : counted.rows();
    }

    /** Returns the lag of the serving table, in records; null if not known. */
    public @Nullable Long lag() {
        TopicEnds lastEnds = ends;
        Table servingTable = table();
        return lastEnds == null || servingTable == null ? null : lastEnds.lag(servingTable::nextOffset);
    }

    /** Returns the time since the brokers reported the end offsets; null if they never did. */
    public @Nullable Duration lagAge() {
        TopicEnds lastEnds = ends;
        return lastEnds == null ? null : lastEnds.at().age(clock);
    }

    /**
     * Returns the staleness of the serving table: the time since it was known to have all records. Null if no table was
     * complete yet.
     */
    public @Nullable Duration staleness() {
        ObservationTime completeAt = asOf;
        return completeAt == null ? null : completeAt.age(clock);
    }

    /** Returns the lag of the serving table, in records; NaN if the end offsets are too old or not known. */
    private double lagOrNaN() {
        TopicEnds lastEnds = ends;
        Table servingTable = table();
        return lastEnds == null
                        || servingTable == null
                        || lastEnds.at().age(clock).compareTo(maxLagAge) > 0
                ? Double.NaN
                : lastEnds.lag(servingTable::nextOffset);
    }

    private void keepTable() {
        try (TopicAdmin admin = createAdmin.get()) {
            topicAdmin = admin;
            fillAndFeed(admin);
        } finally {
            lifeCycle.detach();
        }
    }

    private void onFailure(Throwable cause) {
        if (cause instanceof TruncatedTopicException
                || cause instanceof KafkaException
                || cause instanceof TopicUnavailableException) {
            reportProblem(String.valueOf(cause.getMessage()));
        } else {
            log.error("Keeping the table current failed, and is retried", cause);
            reportProblem(cause.toString());
        }
    }

    /** Fills a table and feeds it. Returns or throws when the feeder must be replaced, or when the keeper stops. */
    private void fillAndFeed(TopicAdmin admin) {
        TopicEnds endsAtStart = awaitTopic(admin);
        if (stop.isRequested()) {
            return;
        }
        if (lifeCycle.serving() != null) {
            rebuilds.increment();
        }
        PackedTable newTable = rebuild.isRunning() ? new PackedTable() : snapshots.open(admin, endsAtStart);
        requireComplete(admin.beginningOffsets(endsAtStart), newTable);
        log.info(
                "Filling the table from {}: {} partitions, {} records",
                Topics.IDENTITIES,
                endsAtStart.byPartition().size(),
                endsAtStart.lag(newTable::nextOffset));
        // Closed after the feeder, so that the last snapshot has all rows.
        DigestCheck check = new DigestCheck(
                Topics.IDENTITIES,
                // The rows of a snapshot may be of later records than its offsets, but not of later ones than these.
                partition ->
                        newTable.isFromSnapshot() ? endsAtStart.byPartition().getOrDefault(partition, 0L) : 0,
                clock);
        try (Snapshots.SnapshotWriting writing = snapshots.writerOf(newTable, check, endsAtStart);
                TableScrub scrub =
                        new TableScrub(newTable, endsAtStart.byPartition().size(), check, checkRate)) {
            feed(admin, endsAtStart, newTable, check, writing, scrub);
        } finally {
            if (table() != newTable) {
                // The table never served, so it has no readers. The next attempt needs its memory.
                newTable.release();
            }
        }
    }

    /** Refuses to fill a table from partitions whose first records were deleted. */
    private void requireComplete(Map<Integer, Long> logStartOffsets, PackedTable newTable) {
        Map<Integer, Long> unreadStarts = new HashMap<>(logStartOffsets);
        unreadStarts.entrySet().removeIf(start -> start.getValue() <= newTable.nextOffset(start.getKey()));
        String deletedRecords = Truncation.reason(Topics.IDENTITIES, unreadStarts);
        if (deletedRecords != null) {
            newTable.release();
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

    private void feed(
            TopicAdmin admin,
            TopicEnds endsAtStart,
            PackedTable newTable,
            DigestCheck check,
            Snapshots.SnapshotWriting writing,
            TableScrub scrub) {
        try (TableFeeder newFeeder = feederFactory.create(newTable, check)) {
            lifeCycle.fill(newFeeder);
            problem.changeTo("the table is being filled");
            if (stop.isRequested()) {
                return;
            }
            newFeeder.start();
            AtomicReference<@Nullable C> createdReceiver = new AtomicReference<>();
            newFeeder.goLive(endsAtStart.byPartition().size(), beginOffsets -> {
                C created = receiverFactory.create(
                        endsAtStart.topicId(), beginOffsets, endsAtStart.at().wall(), (puri, uuid) -> {
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
            replacedTable.replace(table());
            // Before the table serves, so that a ready table has a staleness.
            asOf = endsAtStart.at();
            digests = check;
            servingTopicId = endsAtStart.topicId();
            // Before the next rebuild can be requested.
            rebuild.complete();
            lifeCycle.complete(new LiveTable<>(newTable, changeReceiver));
            waiters.wakeAll();
            problem.clear();
            log.info("The table is complete: {} rows", newTable.rows());
            writing.start(endsAtStart.at());
            scrub.start();
            replacedTable.collectIfInMemory();
            watch(admin, newFeeder, endsAtStart, writing, changeReceiver);
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
                    + serving.rows() + "; it stays until the topic has them again, or until the resolver is restarted");
            if (stop.awaitRequest(WATCH_PERIOD) || !newFeeder.isRunning()) {
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

    private TopicEnds awaitTopic(TopicAdmin admin) {
        while (true) {
            try {
                return readEnds(admin);
            } catch (TopicUnavailableException e) {
                reportProblem(String.valueOf(e.getMessage()));
                if (stop.awaitRequest(WATCH_PERIOD)) {
                    throw e;
                }
            }
        }
    }

    private void watch(
            TopicAdmin admin,
            TableFeeder currentFeeder,
            TopicEnds endsAtStart,
            Snapshots.SnapshotWriting writing,
            RowChanges changeReceiver) {
        while (!stop.awaitRequest(WATCH_PERIOD)) {
            replacedTable.collectIfInMemory();
            if (rebuild.isRunning()) {
                log.info("The table is rebuilt on request");
                problem.changeTo("the table is being rebuilt");
                return;
            }
            if (!currentFeeder.isRunning()) {
                reportProblem("the Kafka Streams client of the table is dead: " + currentFeeder.death());
                return;
            }
            try {
                ObservationTime lastContact = lastContact();
                TopicEnds currentEnds = readEnds(admin);
                if (!currentEnds.isOfTheSameTopic(endsAtStart)) {
                    reportProblem(
                            Topics.IDENTITIES + " was deleted and created again, or its number of partitions changed");
                    return;
                }
                if (lastContact.age(clock).compareTo(MAX_TIME_WITHOUT_CONTACT) > 0) {
                    reportProblem("the table had no contact to the brokers since " + lastContact.wall()
                            + " and may have missed erasures");
                    return;
                }
                watchLogStart(admin.beginningOffsets(currentEnds));
                problem.clear();
                writing.observe(currentEnds);
                ObservationTime completeAt = writing.asOf();
                if (completeAt != null) {
                    asOf = completeAt;
                    changeReceiver.completeAt(completeAt.wall());
                }
            } catch (TopicUnavailableException e) {
                reportProblem(String.valueOf(e.getMessage()));
            }
        }
    }

    /** Notes whether records of the topic were deleted. The serving table has them, but no new table would. */
    private void watchLogStart(Map<Integer, Long> logStartOffsets) {
        String deletedRecords = Truncation.reason(Topics.IDENTITIES, logStartOffsets);
        if (deletedRecords == null) {
            truncation.clear();
        } else if (truncation.changeTo(deletedRecords)) {
            log.error("The table still has all rows, but cannot be filled again: {}", deletedRecords);
        }
    }

    private TopicEnds readEnds(TopicAdmin admin) {
        TopicEnds currentEnds = admin.endOffsets(clock);
        ends = currentEnds;
        return currentEnds;
    }

    private ObservationTime lastContact() {
        TopicEnds lastEnds = ends;
        return lastEnds == null ? ObservationTime.now(clock) : lastEnds.at();
    }

    private void reportProblem(String newProblem) {
        if (problem.changeTo(newProblem) && !stop.isRequested()) {
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
        if (lifeCycle.state() instanceof LifeCycle.Filling<LiveTable<C>, TableFeeder> filling) {
            filling.feeder().abandon();
        }
        if (!thread.join(CLOSE_TIMEOUT)) {
            log.warn("The thread of the table did not stop within {} s", CLOSE_TIMEOUT.toSeconds());
        }
    }
}
