package dev.puri.resolver.feed;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.BrokerTopic.UnreachableException;
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
 * Keeps a complete table at hand. One thread of its own goes round and round:
 *
 * <pre>
 * wait for the topic ─▶ fill a new table ─▶ put it in the place of the old one ─▶ watch
 *         ▲                    │ fails                                              │ client dies,
 *         └──── pause ◀────────┴────────────────────────────────────────────────────┘ topic is another
 * </pre>
 *
 * A dead client's table goes on answering, because what it knows is still what was last known; but
 * readiness is down, so that whoever has another resolver asks that one. A table that was never
 * complete answers nothing.
 *
 * @param <C> type of the receiver of changes
 */
public final class TableKeeper<C extends RowChanges> implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TableKeeper.class);
    private static final Duration WATCH = Duration.ofSeconds(1);
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(200), Duration.ofSeconds(10));

    /** Tombstones are kept for 7 days: a table that was cut off for longer may have missed some. */
    private static final Duration LONGEST_ABSENCE = Duration.ofDays(6);

    /** More than its parts: of the admin 1 s, Kafka Streams 5 s, the writer 2 s, the last snapshot 20 s. */
    private static final Duration STOP = Duration.ofSeconds(30);

    private final Supplier<BrokerTopic> topics;
    private final Function<PackedTable, TableClient> clients;
    private final Snapshots snapshots;
    private final Waiters waiters;
    private final Follower<C> follower;
    private final long maxLag;
    private final Duration maxLagAge;
    private final Supplier<@Nullable String> hanging;
    private final InstantSource clock;
    private final Counter rebuilds;
    private final ReplacedTable replaced;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("table-keeper", stop, RETRY_POLICY, this::keep, this::failed);

    /** The table that answers: complete, perhaps no longer fed. */
    private volatile @Nullable Table table;

    /** The same table with its changes; null before there is one. */
    private volatile @Nullable Followed<C> followed;

    /** The last moment of which it is known that the table that answers had all; null before there is one. */
    private volatile @Nullable ObservationTime asOf;

    /** Where the brokers are asked; null before. */
    private volatile @Nullable BrokerTopic asked;

    /** The client at work, filling its table or feeding it. */
    private volatile @Nullable TableClient client;

    /** Whether the client at work feeds the table that answers. */
    private volatile boolean fed;

    /** The topic's ends when the brokers last answered; null before. */
    private volatile @Nullable TopicEnds ends;

    /** What is wrong, for people; null when nothing is. */
    private volatile @Nullable String trouble = "not begun";

    /** Makes the receiver of the changes of each table that is complete. */
    @FunctionalInterface
    public interface Follower<C extends RowChanges> {
        /**
         * Called by the thread that writes the table, before the first live record.
         *
         * @param topicId of the topic that the table is fed from
         * @param begins by partition, the offset after the last record that was written
         * @param completeAt when the topic had no more than that, or any time before
         * @param isThere whether the table has an identity of a name and uuid; to be asked by any thread
         */
        C begin(Uuid topicId, long[] begins, Instant completeAt, BiPredicate<Puri, UUID> isThere);
    }

    /**
     * A table that is complete, and the receiver of its changes. They belong together: an offset that the receiver has reached
     * is true of no other table.
     *
     * @param <C> type of the receiver
     * @param changes receives each change after readers of the table can see it
     */
    public record Followed<C extends RowChanges>(PackedTable table, C changes) {}

    /**
     * @param topics makes an admin's view of the topic
     * @param clients makes a client that feeds a table
     * @param snapshots where tables are opened from and written to
     * @param waiters to be woken when another table answers
     * @param follower makes the receiver of changes of the table that answers
     * @param maxLag records that the table may be behind and still be ready
     * @param maxLagAge how old the knowledge of that may be
     * @param hanging the transaction that hides what was committed after it; null when there is none
     * @param collector called after a table was replaced, so that the garbage collector frees its memory outside the heap; does
     *     nothing in a process that is not the keeper's own
     */
    public TableKeeper(
            Supplier<BrokerTopic> topics,
            Function<PackedTable, TableClient> clients,
            Snapshots snapshots,
            Waiters waiters,
            Follower<C> follower,
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
        this.follower = follower;
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
        Gauge.builder("puri.table.restored.records", this, keeper -> keeper.reach(Reach::reached))
                .description("Offsets of its topic that the table at work has reached, while it is filled and after")
                .register(meters);
        Gauge.builder("puri.table.restore.end.records", this, keeper -> keeper.reach(Reach::end))
                .description("Offsets that it has to reach")
                .register(meters);
        Gauge.builder("puri.table.ready", this, keeper -> keeper.unready() == null ? 1 : 0)
                .description("1 while the table that answers is fed, and close to the end of its topic")
                .register(meters);
    }

    /** Begins; once. */
    public void start() {
        thread.start();
    }

    /** The table, once complete; null before. */
    public @Nullable Table table() {
        return table;
    }

    /** The table with its changes, once complete; null before. */
    public @Nullable Followed<C> followed() {
        return followed;
    }

    /** Partitions of the topic, which are those of the shared events topic too; 0 before it was seen. */
    public int partitions() {
        TopicEnds seen = ends;
        return seen == null ? 0 : seen.byPartition().size();
    }

    /** Whether the table that answers is fed, and close to the end of its topic. */
    public boolean isReady() {
        return unready() == null;
    }

    /** How far the filling is, for an answer that has to be put off. */
    public String progress() {
        return Objects.requireNonNullElse(unready(), "it is now");
    }

    /** Why what the table answers may be old, or missing; null when it is not. */
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
                trouble,
                seen == null || client == null ? 0 : seen.lag(client.table()::reached),
                seen == null ? null : seen.at().age(clock),
                hanging.get());
    }

    /** How full the table at work is, and how far, for people and dashboards; may be changed. */
    public Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        TableClient client = this.client;
        Table shown = client == null ? table : client.table();
        Reach reach = reach();
        String trouble = this.trouble;
        details.put("topic", Topics.IDENTITIES);
        details.put("rows", (long) rows(shown));
        if (reach != null) {
            details.put("reached", reach.reached());
            details.put("end", reach.end());
            details.put("behind", reach.end() - reach.reached());
        }
        if (trouble != null) {
            details.put("detail", trouble);
        }
        return details;
    }

    /**
     * How far a table is, in offsets, summed over partitions.
     *
     * @param reached offsets that it has seen
     * @param end of the topic, when the brokers were last asked
     */
    public record Reach(long reached, long end) {}

    /** How far the current table is; null before the topic's end was read, and while there is no table. */
    public @Nullable Reach reach() {
        TableClient client = this.client;
        Table shown = client == null ? table : client.table();
        TopicEnds seen = ends;
        if (seen == null || shown == null) {
            return null;
        }
        long end = seen.ends().total();
        return new Reach(end - seen.lag(shown::reached), end);
    }

    private double reach(ToDoubleFunction<Reach> which) {
        Reach reach = reach();
        return reach == null ? Double.NaN : which.applyAsDouble(reach);
    }

    private double stats(ToDoubleFunction<TableStats> which) {
        Table answering = table;
        return answering == null ? 0 : which.applyAsDouble(answering.stats());
    }

    private double rows(@Nullable Table counted) {
        return counted == null ? 0 : counted.rows();
    }

    /** Records that the table that answers is behind its topic; null when not known. */
    public @Nullable Long behind() {
        TopicEnds seen = ends;
        Table answering = table;
        return seen == null || answering == null ? null : seen.lag(answering::reached);
    }

    /** How long ago the brokers told that; null when they never did. */
    public @Nullable Duration lagAge() {
        TopicEnds seen = ends;
        return seen == null ? null : seen.at().age(clock);
    }

    /** Since when it is not known that the table that answers has all; null before there is one. */
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
            liveOnce(topic);
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

    /** Returns, or throws, when the client has to be replaced or the keeper stops. */
    private void liveOnce(BrokerTopic topic) {
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
        // The last snapshot is written when the client feeds the table no more.
        try (Snapshots.Writing writing = snapshots.of(next, filledFrom)) {
            feed(topic, filledFrom, next, writing);
        } finally {
            if (table != next) {
                // Nobody has read it; the next attempt needs the room.
                next.release();
            }
        }
    }

    private void feed(BrokerTopic topic, TopicEnds filledFrom, PackedTable next, Snapshots.Writing writing) {
        try (TableClient filling = clients.apply(next)) {
            client = filling;
            trouble = "the table is being filled";
            if (stop.isAsked()) {
                return;
            }
            filling.start();
            AtomicReference<@Nullable C> told = new AtomicReference<>();
            filling.goLive(filledFrom.byPartition().size(), begins -> {
                C begun = follower.begin(filledFrom.topicId(), begins, filledFrom.at().wall(), (puri, uuid) -> {
                    Identity there = next.byPuri(puri);
                    return there != null && there.row().uuid().equals(uuid);
                });
                told.set(begun);
                return begun;
            });
            C changes = Objects.requireNonNull(told.get());
            replaced.begin(table);
            table = next;
            followed = new Followed<>(next, changes);
            asOf = filledFrom.at();
            fed = true;
            waiters.wakeAll();
            trouble = null;
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
                if (stop.isAskedWithin(WATCH)) {
                    throw e;
                }
            }
        }
    }

    private void watch(
            BrokerTopic topic, TableClient feeding, TopicEnds filledFrom, Snapshots.Writing writing, RowChanges changes) {
        while (!stop.isAskedWithin(WATCH)) {
            replaced.look();
            if (!feeding.isRunning()) {
                inTrouble("the table's client is dead: " + feeding.death());
                return;
            }
            try {
                ObservationTime lastSeen = lastSeen();
                TopicEnds now = askForEnds(topic);
                if (!now.isOfTheSameTopic(filledFrom)) {
                    inTrouble(Topics.IDENTITIES + " was made anew, or has other partitions than before");
                    return;
                }
                if (lastSeen.age(clock).compareTo(LONGEST_ABSENCE) > 0) {
                    inTrouble(
                            "the table was cut off since " + lastSeen.wall() + " and may have missed what was erased");
                    return;
                }
                trouble = null;
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
        if (!what.equals(trouble) && !stop.isAsked()) {
            log.warn("The table: {}", what);
        }
        trouble = what;
    }

    /**
     * Stops feeding and lets the last snapshot be written; within half a minute, also while the table is
     * being filled or waits for something.
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
