package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.DigestMeters;
import dev.puri.projection.FailureState;
import dev.puri.projection.LifeCycle;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.Staleness;
import dev.puri.projection.TopicEnds;
import dev.puri.projection.Truncation;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.TableStats;
import dev.puri.schemas.log.Topics;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The readiness, lag, progress and digests of the table that a {@link TableKeeper} provides, for health checks,
 * requests of operators, and metrics. The keeper's thread reports its observations; any thread may read them.
 */
public final class TableStatus {
    private static final Logger log = LoggerFactory.getLogger(TableStatus.class);

    private final LifeCycle<? extends LiveTable<?>, TableFeeder> lifeCycle;
    private final long maxLag;
    private final Duration maxLagAge;
    private final Supplier<@Nullable String> hangingTransaction;
    private final InstantSource clock;

    /** Why the table cannot be fed, as text for people. */
    private final FailureState problem = new FailureState("not begun");

    /** Which records the brokers have deleted from the topic. */
    private final FailureState truncation = new FailureState();

    private final FailureState scrubFailure = new FailureState();

    private final TableRebuild rebuild;
    private final DigestMeters digestMeters;

    /** The staleness of the serving table. Before a table was complete, it has not caught up. */
    private volatile Staleness<TopicEnds> staleness;

    /** The end offsets that the brokers reported last; null if they never did. */
    private volatile @Nullable TopicEnds ends;

    /** The comparisons of the serving table with the registrar; null if no table was complete yet. */
    private volatile @Nullable DigestCheck digests;

    /**
     * @param lifeCycle the serving table and its feeder
     * @param maxLag the maximum lag of a ready table, in records
     * @param maxLagAge the maximum age of the end offsets of a ready table
     * @param hangingTransaction describes an open transaction that hides later records; null if there is none
     */
    TableStatus(
            LifeCycle<? extends LiveTable<?>, TableFeeder> lifeCycle,
            long maxLag,
            Duration maxLagAge,
            Supplier<@Nullable String> hangingTransaction,
            InstantSource clock,
            MeterRegistry meters) {
        this.lifeCycle = lifeCycle;
        this.maxLag = maxLag;
        this.maxLagAge = maxLagAge;
        this.hangingTransaction = hangingTransaction;
        this.clock = clock;
        this.rebuild = new TableRebuild(clock);
        this.staleness = new Staleness<>(TopicEnds::at, ends -> false, clock);
        Gauge.builder("puri.table.rows", this, status -> status.rows(status.servingTable()))
                .description("Identities in the serving table")
                .register(meters);
        Gauge.builder("puri.table.bytes", this, status -> status.stats(TableStats::bytes))
                .description("Off-heap memory of the serving table")
                .register(meters);
        Gauge.builder("puri.table.load", this, status -> status.stats(TableStats::load))
                .description("Load factor of the index of the serving table, 0 to 1")
                .register(meters);
        Gauge.builder("puri.table.lag", this, TableStatus::lagOrNaN)
                .description("Lag of the serving table in records; NaN if unknown")
                .register(meters);
        Gauge.builder("puri.table.lag.seconds", this, status -> status.staleness.seconds())
                .description("Time since the serving table was known to have all records; NaN before it was complete")
                .register(meters);
        Gauge.builder("puri.table.restored.records", this, status -> status.fillProgress(FillProgress::reached))
                .description("Sum over the partitions of the offsets that the table has reached")
                .register(meters);
        Gauge.builder("puri.table.restore.end.records", this, status -> status.fillProgress(FillProgress::end))
                .description("Sum over the partitions of the end offsets that the table has to reach")
                .register(meters);
        digestMeters = DigestCheck.meter(Topics.IDENTITIES, () -> digests, meters);
        Gauge.builder("puri.table.ready", this, status -> status.isReady() ? 1 : 0)
                .description("1 if the serving table is fed and close to the end of its topic, otherwise 0")
                .register(meters);
    }

    /** Returns the number of partitions; 0 if not known yet. The shared events topic has the same number. */
    public int partitions() {
        TopicEnds lastEnds = ends;
        return lastEnds == null ? 0 : lastEnds.byPartition().size();
    }

    /** Returns whether the serving table is fed and its lag is small. */
    public boolean isReady() {
        return unreadyReason() == null;
    }

    /** Returns why requests had to wait, as text for people. If the table is ready now, the text says so. */
    public String waitReason() {
        return Objects.requireNonNullElse(unreadyReason(), "the table is complete now");
    }

    /** Returns why rows of the serving table may be stale or missing, or null if the table is ready. */
    public @Nullable String unreadyReason() {
        return readiness().unreadyReason(maxLag, maxLagAge);
    }

    private TableReadiness readiness() {
        LifeCycle.State<? extends LiveTable<?>, TableFeeder> state = lifeCycle.state();
        TableFeeder feeder = runningFeeder(state);
        TopicEnds lastEnds = ends;
        return new TableReadiness(
                state instanceof LifeCycle.Current,
                feeder != null && feeder.isRunning(),
                feeder == null ? null : feeder.schemaRegistryProblem(),
                problem.reason(),
                contentProblem(),
                lastEnds == null || feeder == null ? 0 : lastEnds.lag(feeder.table()::nextOffset),
                lastEnds == null ? null : lastEnds.at().age(clock),
                hangingTransaction.get());
    }

    private @Nullable String contentProblem() {
        DigestCheck check = digests;
        String deletedRecords = truncation.reason();
        return deletedRecords != null || check == null ? deletedRecords : check.reason();
    }

    /**
     * Returns the digests of the serving table and their comparisons with the registrar, as the JSON of {@code GET
     * /v1/digest}; null if no table was complete yet.
     */
    public @Nullable Map<String, Object> digests() {
        PackedTable table = servingTable();
        DigestCheck check = digests;
        if (table == null || check == null) {
            return null;
        }
        List<Map<String, Object>> partitions = new ArrayList<>();
        for (int partition = 0; partition < partitions(); partition++) {
            partitions.add(check.toJson(partition, table.nextOffset(partition), table.digest(partition)));
        }
        return Map.of("topics", List.of(DigestCheck.topicJson(Topics.IDENTITIES, partitions)));
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

    /**
     * Returns rows and offsets of the table that the feeder fills or keeps current; without a feeder, of the serving
     * table. For people and dashboards.
     */
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
        String failedScrub = scrubFailure.reason();
        if (failedScrub != null) {
            details.put("scrubFailure", failedScrub);
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

    /**
     * Returns the progress of the table that the feeder fills or keeps current; without a feeder, of the serving table.
     * Returns null if there is no table or no end offsets yet.
     */
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
        TableFeeder feeder = runningFeeder(lifeCycle.state());
        return feeder != null ? feeder.table() : servingTable();
    }

    /** Returns what fills a table or keeps the serving one current; null if nothing does. The keeper runs only one. */
    private static @Nullable TableFeeder runningFeeder(LifeCycle.State<?, TableFeeder> state) {
        return state.feeder() != null ? state.feeder() : state.rebuildFeeder();
    }

    private @Nullable PackedTable servingTable() {
        LiveTable<?> serving = lifeCycle.serving();
        return serving == null ? null : serving.table();
    }

    private double fillProgress(ToDoubleFunction<FillProgress> field) {
        FillProgress progress = fillProgress();
        return progress == null ? Double.NaN : field.applyAsDouble(progress);
    }

    private double stats(ToDoubleFunction<TableStats> field) {
        Table servingTable = servingTable();
        return servingTable == null ? 0 : field.applyAsDouble(servingTable.stats());
    }

    private double rows(@Nullable Table counted) {
        return counted == null ? 0 : counted.rows();
    }

    /** Returns the lag of the serving table, in records; null if not known. */
    public @Nullable Long lag() {
        TopicEnds lastEnds = ends;
        Table servingTable = servingTable();
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
        return staleness.duration();
    }

    /** Returns the lag of the serving table, in records; NaN if the end offsets are too old or not known. */
    private double lagOrNaN() {
        Duration age = lagAge();
        Long lag = lag();
        return age == null || lag == null || age.compareTo(maxLagAge) > 0 ? Double.NaN : lag;
    }

    /** Returns why the scrub of the serving table fails now. */
    FailureState scrubFailure() {
        return scrubFailure;
    }

    /** Returns the state of the rebuild that was requested last. */
    TableRebuild rebuild() {
        return rebuild;
    }

    /** Returns which records the brokers have deleted from the topic; null if none. */
    @Nullable
    String deletedRecords() {
        return truncation.reason();
    }

    /**
     * Notes the log start offsets. If records before them were deleted, the serving table still has their rows, but a
     * new table would lack them.
     */
    void noteLogStarts(Map<Integer, Long> logStartOffsets) {
        String deletedRecords = Truncation.reason(Topics.IDENTITIES, logStartOffsets);
        if (deletedRecords == null) {
            truncation.clear();
        } else if (truncation.changeTo(deletedRecords)) {
            log.error("The table still has all rows, but cannot be filled again: {}", deletedRecords);
        }
    }

    /** Notes the end offsets that the brokers reported. */
    void noteEnds(TopicEnds reportedEnds) {
        ends = reportedEnds;
        digestMeters.register(reportedEnds.byPartition().size());
    }

    /** Returns the time of the last report of end offsets, or the current time before the first report. */
    ObservationTime lastContact() {
        TopicEnds lastEnds = ends;
        return lastEnds == null ? ObservationTime.now(clock) : lastEnds.at();
    }

    /** Sets the staleness and the comparisons of the table that is about to replace the serving table. */
    void noteComplete(FedTable completeTable) {
        staleness = completeTable.staleness();
        digests = completeTable.digests();
    }

    /**
     * Notes why the table cannot be fed now.
     *
     * @return whether the reason differs from the previous one, so that the caller should log it
     */
    boolean noteProblem(String reason) {
        return problem.changeTo(reason);
    }

    /** Notes that the table is fed. */
    void clearProblem() {
        problem.clear();
    }
}
