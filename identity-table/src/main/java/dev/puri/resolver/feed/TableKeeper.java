package dev.puri.resolver.feed;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.BrokerTopic.UnreachableException;
import dev.puri.tail.FailureState;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.TopicEnds;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a complete table and feeds it. One thread does this:
 *
 * <pre>
 * wait for the topic ─▶ fill a new table ─▶ swap it with the serving table ─▶ watch client and topic
 *         ▲                    │ fails                                            │ client is dead,
 *         └──── back off ◀─────┴──────────────────────────────────────────────────┘ topic was recreated
 * </pre>
 *
 * The table of a dead client serves on, because its rows are the last ones known; but readiness is down, so that
 * clients ask another resolver if there is one. A table that was never complete does not serve.
 *
 * @param <C> type of the receiver of changes
 */
public final class TableKeeper<C extends RowChanges> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TableKeeper.class);
    private static final Duration WATCH_PERIOD = Duration.ofSeconds(1);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));

    /** The brokers keep tombstones for 7 days: a table without contact for longer may have missed some. */
    private static final Duration LONGEST_ABSENCE = Duration.ofDays(6);

    /** More than the sum of: the admin client 1 s, Kafka Streams 5 s, the writer 2 s, the last snapshot 20 s. */
    private static final Duration STOP = Duration.ofSeconds(30);

    private final Supplier<BrokerTopic> topics;
    private final Function<PackedTable, TableClient> clients;
    private final Snapshots snapshots;
    private final Waiters waiters;
    private final ChangesFactory<C> changesFactory;
    private final long maxLag;
    private final Duration maxLagAge;
    private final Supplier<@Nullable String> hanging;
    private final InstantSource clock;
    private final Counter rebuilds;
    private final ReplacedTable replaced;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("table-keeper", stop, RETRY_POLICY, this::keep, this::failed);

    /** The serving table: complete, perhaps not fed any more; null before there is one. */
    private volatile @Nullable Table table;

    /** The serving table with the receiver of its changes; null before there is one. */
    private volatile @Nullable LiveTable<C> liveTable;

    /** The last time at which the serving table is known to have had everything; null before there is one. */
    private volatile @Nullable ObservationTime asOf;

    /** The admin client that asks the brokers; null before the first attempt. */
    private volatile @Nullable BrokerTopic asked;

    /** The client that fills a new table or feeds the serving one. */
    private volatile @Nullable TableClient client;

    /** Whether {@link #client} feeds the serving table. */
    private volatile boolean fed;

    /** The topic's ends when the brokers last answered; null before. */
    private volatile @Nullable TopicEnds ends;

    /** Why the table cannot be fed now, for people; null when it can. */
    private final FailureState trouble = new FailureState("not begun");

    /** Creates the receiver of the changes of a complete table. */
    @FunctionalInterface
    public interface ChangesFactory<C extends RowChanges> {
        /**
         * Called by the thread that writes the table, before the first live record.
         *
         * @param topicId of the topic that feeds the table
         * @param begins by partition, the offset after the last record that was written
         * @param completeAt a time at which the topic had no later records
         * @param isThere whether the table has an identity of a name and uuid; for any thread
         */
        C begin(Uuid topicId, long[] begins, Instant completeAt, BiPredicate<Puri, UUID> isThere);
    }

    /**
     * A complete table and the receiver of its changes. They belong together: the receiver's offsets are those of this
     * table.
     *
     * @param <C> type of the receiver
     * @param changes receives each change after readers of the table can see it
     */
    public record LiveTable<C extends RowChanges>(PackedTable table, C changes) {}

    /**
     * @param topics creates an admin client for the topic
     * @param clients creates a client that feeds a table
     * @param snapshots opens and writes the table's snapshots
     * @param waiters are woken when another table serves
     * @param changesFactory creates the receiver of the serving table's changes
     * @param maxLag the largest lag, in records, with which the table is ready
     * @param maxLagAge how old the end offsets may be that the lag is computed from
     * @param hanging describes a transaction that hides later records; null when there is none
     * @param collector runs the garbage collector after a table was replaced, since that frees its memory outside the
     *     heap; does nothing in a process that the keeper shares with an application
     */
    public TableKeeper(
            Supplier<BrokerTopic> topics,
            Function<PackedTable, TableClient> clients,
            Snapshots snapshots,
            Waiters waiters,
            ChangesFactory<C> changesFactory,
            long maxLag,
            Duration maxLagAge,
            Supplier<@Nullable String> hanging,
            Runnable collector,
            InstantSource clock,
            MeterRegistry meters) {
        this.topics = topics;
        this.clients = clients;
        this.snapshots = snapshots;
        this.waiters = waiters;
        this.changesFactory = changesFactory;
        this.maxLag = maxLag;
        this.maxLagAge = maxLagAge;
        this.hanging = hanging;
        this.replaced = new ReplacedTable(collector);
        this.clock = clock;
        this.rebuilds = Counter.builder("puri.table.rebuilds")
                .description("Tables begun anew because the one before could not be fed any more")
                .register(meters);
        Gauge.builder("puri.table.rows", this, keeper -> keeper.rows(keeper.table))
                .description("Identities in the table that answers")
                .register(meters);
        Gauge.builder("puri.table.bytes", this, keeper -> keeper.stats(TableStats::bytes))
                .description("Memory outside the heap that the table that answers takes")
                .register(meters);
        Gauge.builder("puri.table.load", this, keeper -> keeper.stats(TableStats::load))
                .description("Share of its index that is taken")
                .register(meters);
        Gauge.builder("puri.table.lag", this, TableKeeper::lag)
                .description("Records that the table is behind its topic; NaN when not known")
                .register(meters);
        Gauge.builder("puri.table.lag.seconds", this, keeper -> {
                    Duration age = keeper.age();
                    return age == null ? Double.NaN : age.toMillis() / 1000.0;
                })
                .description("Since when it is not known that the table that answers has all; NaN before there is one")
                .register(meters);
        Gauge.builder("puri.table.restored.records", this, keeper -> keeper.fillProgress(FillProgress::reached))
                .description("Offsets of its topic that the table at work has reached, while it is filled and after")
                .register(meters);
        Gauge.builder("puri.table.restore.end.records", this, keeper -> keeper.fillProgress(FillProgress::end))
                .description("Offsets that it has to reach")
                .register(meters);
        Gauge.builder("puri.table.ready", this, keeper -> keeper.unready() == null ? 1 : 0)
                .description("1 while the table that answers is fed, and close to the end of its topic")
                .register(meters);
    }

    /** Starts the thread; once. */
    public void start() {
        thread.start();
    }

    /** The serving table; null before there is one. */
    public @Nullable Table table() {
        return table;
    }

    /** The serving table with the receiver of its changes; null before there is one. */
    public @Nullable LiveTable<C> liveTable() {
        return liveTable;
    }

    /** The number of partitions of the topic and of the shared events topic; 0 before the brokers have answered. */
    public int partitions() {
        TopicEnds seen = ends;
        return seen == null ? 0 : seen.byPartition().size();
    }

    /** Whether the serving table is fed and its lag is small. */
    public boolean isReady() {
        return unready() == null;
    }

    /** Why requests have to wait, for people. */
    public String progress() {
        return Objects.requireNonNullElse(unready(), "it is now");
    }

    /** Why rows of the serving table may be stale or missing; null when they are not. */
    public @Nullable String unready() {
        return readiness().unready(maxLag, maxLagAge);
    }

    private TableReadiness readiness() {
        TableClient client = this.client;
        TopicEnds seen = ends;
        return new TableReadiness(
                fed && client != null,
                client != null && client.isRunning(),
                client == null ? null : client.waitingFor(),
                trouble.reason(),
                seen == null || client == null ? 0 : seen.lag(client.table()::reached),
                seen == null ? null : seen.at().age(clock),
                hanging.get());
    }

    /** Rows and offsets of the table that is filled or fed, for people and dashboards; a copy. */
    public Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        TableClient client = this.client;
        Table shown = client == null ? table : client.table();
        FillProgress progress = fillProgress();
        String detail = trouble.reason();
        details.put("topic", Topics.IDENTITIES);
        details.put("rows", (long) rows(shown));
        if (progress != null) {
            details.put("reached", progress.reached());
            details.put("end", progress.end());
            details.put("behind", progress.end() - progress.reached());
        }
        if (detail != null) {
            details.put("detail", detail);
        }
        return details;
    }

    /**
     * The progress of a table in offsets, summed over the partitions.
     *
     * @param reached offsets that the table has reached
     * @param end end offsets of the topic, when the brokers were last asked
     */
    public record FillProgress(long reached, long end) {}

    /** The progress of the current table; null before the brokers have answered, and while there is no table. */
    public @Nullable FillProgress fillProgress() {
        TableClient client = this.client;
        Table shown = client == null ? table : client.table();
        TopicEnds seen = ends;
        if (seen == null || shown == null) {
            return null;
        }
        long end = seen.ends().total();
        return new FillProgress(end - seen.lag(shown::reached), end);
    }

    private double fillProgress(ToDoubleFunction<FillProgress> which) {
        FillProgress progress = fillProgress();
        return progress == null ? Double.NaN : which.applyAsDouble(progress);
    }

    private double stats(ToDoubleFunction<TableStats> which) {
        Table answering = table;
        return answering == null ? 0 : which.applyAsDouble(answering.stats());
    }

    private double rows(@Nullable Table counted) {
        return counted == null ? 0 : counted.rows();
    }

    /** The lag of the serving table, in records; null when not known. */
    public @Nullable Long behind() {
        TopicEnds seen = ends;
        Table answering = table;
        return seen == null || answering == null ? null : seen.lag(answering::reached);
    }

    /** How long ago the brokers reported the end offsets; null when they never did. */
    public @Nullable Duration lagAge() {
        TopicEnds seen = ends;
        return seen == null ? null : seen.at().age(clock);
    }

    /** The staleness of the serving table: how long ago it was known to have everything. Null before there is one. */
    public @Nullable Duration age() {
        ObservationTime complete = asOf;
        return complete == null ? null : complete.age(clock);
    }

    private double lag() {
        TopicEnds seen = ends;
        Table answering = table;
        return seen == null || answering == null || seen.at().age(clock).compareTo(maxLagAge) > 0
                ? Double.NaN
                : seen.lag(answering::reached);
    }

    private void keep() {
        try (BrokerTopic topic = topics.get()) {
            asked = topic;
            keepOne(topic);
        } finally {
            fed = false;
            client = null;
        }
    }

    private void failed(Throwable cause) {
        if (cause instanceof KafkaException || cause instanceof UnreachableException) {
            inTrouble(String.valueOf(cause.getMessage()));
        } else {
            log.error("The table cannot be kept for now", cause);
            inTrouble(cause.toString());
        }
    }

    /** Returns or throws when the client has to be replaced, or at the stop. */
    private void keepOne(BrokerTopic topic) {
        TopicEnds filledFrom = awaitTopic(topic);
        if (stop.isAsked()) {
            return;
        }
        if (table != null) {
            rebuilds.increment();
        }
        PackedTable next = snapshots.open(topic, filledFrom);
        log.info(
                "Filling the table from {}: {} partitions, {} records",
                Topics.IDENTITIES,
                filledFrom.byPartition().size(),
                filledFrom.lag(next::reached));
        // The last snapshot is written after the client has stopped feeding.
        try (Snapshots.Writing writing = snapshots.of(next, filledFrom)) {
            feed(topic, filledFrom, next, writing);
        } finally {
            if (table != next) {
                // Nobody has read it, and the next attempt needs its memory.
                next.release();
            }
        }
    }

    private void feed(BrokerTopic topic, TopicEnds filledFrom, PackedTable next, Snapshots.Writing writing) {
        try (TableClient filling = clients.apply(next)) {
            client = filling;
            trouble.changeTo("the table is being filled");
            if (stop.isAsked()) {
                return;
            }
            filling.start();
            AtomicReference<@Nullable C> receiver = new AtomicReference<>();
            filling.goLive(filledFrom.byPartition().size(), begins -> {
                C begun = changesFactory.begin(
                        filledFrom.topicId(), begins, filledFrom.at().wall(), (puri, uuid) -> {
                            Identity there = next.byPuri(puri);
                            return there != null && there.row().uuid().equals(uuid);
                        });
                receiver.set(begun);
                return begun;
            });
            C changes = Objects.requireNonNull(receiver.get());
            replaced.begin(table);
            table = next;
            liveTable = new LiveTable<>(next, changes);
            asOf = filledFrom.at();
            fed = true;
            waiters.wakeAll();
            trouble.clear();
            log.info("The table is complete: {} rows", next.rows());
            writing.complete(filledFrom.at());
            replaced.look();
            watch(topic, filling, filledFrom, writing, changes);
        }
    }

    private TopicEnds awaitTopic(BrokerTopic topic) {
        while (true) {
            try {
                return askForEnds(topic);
            } catch (UnreachableException e) {
                inTrouble(String.valueOf(e.getMessage()));
                if (stop.isAskedWithin(WATCH_PERIOD)) {
                    throw e;
                }
            }
        }
    }

    private void watch(
            BrokerTopic topic,
            TableClient feeding,
            TopicEnds filledFrom,
            Snapshots.Writing writing,
            RowChanges changes) {
        while (!stop.isAskedWithin(WATCH_PERIOD)) {
            replaced.look();
            if (!feeding.isRunning()) {
                inTrouble("the table's client is dead: " + feeding.death());
                return;
            }
            try {
                ObservationTime lastSeen = lastSeen();
                TopicEnds now = askForEnds(topic);
                if (!now.isOfTheSameTopic(filledFrom)) {
                    inTrouble(
                            Topics.IDENTITIES + " was deleted and created again, or has other partitions than before");
                    return;
                }
                if (lastSeen.age(clock).compareTo(LONGEST_ABSENCE) > 0) {
                    inTrouble("the table had no contact since " + lastSeen.wall() + " and may have missed erasures");
                    return;
                }
                trouble.clear();
                writing.observe(now);
                ObservationTime complete = writing.asOf();
                if (complete != null) {
                    asOf = complete;
                    changes.completeAt(complete.wall());
                }
            } catch (UnreachableException e) {
                inTrouble(String.valueOf(e.getMessage()));
            }
        }
    }

    private TopicEnds askForEnds(BrokerTopic topic) {
        TopicEnds now = topic.ends(clock);
        ends = now;
        return now;
    }

    private ObservationTime lastSeen() {
        TopicEnds seen = ends;
        return seen == null ? ObservationTime.now(clock) : seen.at();
    }

    private void inTrouble(String what) {
        if (trouble.changeTo(what) && !stop.isAsked()) {
            log.warn("The table: {}", what);
        }
    }

    /**
     * Stops feeding and waits for the last snapshot; within half a minute, even while the table is being filled or
     * waits for something.
     */
    @Override
    public void close() {
        stop.ask();
        BrokerTopic topic = asked;
        if (topic != null) {
            topic.close();
        }
        TableClient at = client;
        if (at != null && !fed) {
            at.abandon();
        }
        if (!thread.join(STOP)) {
            log.warn("The table's client did not stop within {} s", STOP.toSeconds());
        }
    }
}
