package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.projection.TimeBudget;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.PartCheck;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds memory that changed without a write. Compares the stored rows with the digests of their partitions, and the
 * index of handles with the rows. Reads one part of the table after the other and then begins again. Runs in its own
 * thread, at a limited rate.
 */
final class TableScrub implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(TableScrub.class);
    private static final Duration MIN_PASS_TIME = Duration.ofSeconds(1);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** The credit that is used up between two pauses. */
    private static final Duration MAX_CREDIT = Duration.ofMillis(10);

    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));

    /**
     * Maximum number of attempts to read a part that the writer changes meanwhile. Then the part waits for the next
     * pass.
     */
    private static final int MAX_TRIES = 20;

    private final PackedTable table;
    private final int partitions;
    private final DigestCheck digests;
    private final long rowsPerSecond;
    private final FailureState failure;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("table-scrub", stop, RETRY_POLICY, this::run, this::onFailure);

    /** Limits the rate. Only for the thread. */
    private final TimeBudget budget = new TimeBudget(1, MAX_CREDIT, System::nanoTime);

    /**
     * @param partitions the number of partitions of the topic
     * @param digests receives the results
     * @param rowsPerSecond the maximum number of rows and of entries of the index of handles per second; 0 to check
     *     nothing
     * @param failure receives the reason why the last pass failed
     */
    TableScrub(PackedTable table, int partitions, DigestCheck digests, long rowsPerSecond, FailureState failure) {
        this.table = table;
        this.partitions = partitions;
        this.digests = digests;
        this.rowsPerSecond = rowsPerSecond;
        this.failure = failure;
    }

    void start() {
        // The last table may have been replaced after its scrub failed.
        failure.clear();
        if (rowsPerSecond > 0) {
            thread.start();
        }
    }

    private void run() {
        while (!stop.isRequested()) {
            long startNanos = System.nanoTime();
            pass();
            failure.clear();
            stop.awaitRequest(MIN_PASS_TIME.minusNanos(System.nanoTime() - startNanos));
        }
    }

    private void onFailure(Throwable cause) {
        if (failure.changeTo(cause.toString())) {
            log.error("The scrub of the table failed, and is retried", cause);
        }
    }

    /** Checks all parts of the table and of the index of handles once. Returns early after {@link #close}. */
    void pass() {
        Set<Integer> differingPartitions = new TreeSet<>();
        boolean isComplete = true;
        for (int part = 0; part < table.partCount() && !stop.isRequested(); part++) {
            int current = part;
            PartCheck rows = checkConfirmed(() -> table.checkRows(current, partitions));
            PartCheck handles = checkConfirmed(() -> table.checkHandles(current, partitions));
            isComplete &= rows.isComplete();
            for (int partition : rows.differingPartitions()) {
                digests.storedRowsDiffer(partition, "part " + part + " of the table");
            }
            for (int partition : handles.differingPartitions()) {
                digests.indexEntryDiffers(partition, "part " + part + " of the index of handles");
            }
            differingPartitions.addAll(rows.differingPartitions());
            differingPartitions.addAll(handles.differingPartitions());
        }
        for (int partition = 0; isComplete && !stop.isRequested() && partition < partitions; partition++) {
            if (!differingPartitions.contains(partition)) {
                digests.storedRowsAgree(partition);
            }
        }
    }

    /** Makes a check. Reports only differences that a second check confirms. */
    private PartCheck checkConfirmed(Supplier<PartCheck> check) {
        PartCheck first = checkUndisturbed(check);
        if (first.differingPartitions().isEmpty()) {
            return first;
        }
        PartCheck second = checkUndisturbed(check);
        List<Integer> both = first.differingPartitions().stream()
                .filter(second.differingPartitions()::contains)
                .toList();
        return new PartCheck(second.isComplete(), second.entries(), both);
    }

    /** Makes a check, and repeats it while the writer interferes. */
    private PartCheck checkUndisturbed(Supplier<PartCheck> check) {
        for (int tries = 1; ; tries++) {
            PartCheck result = check.get();
            budget.spend(result.entries(), rowsPerSecond, stop);
            if (result.isComplete() || tries == MAX_TRIES || stop.isRequested()) {
                return result;
            }
        }
    }

    @Override
    public void close() {
        stop.request();
        if (rowsPerSecond > 0 && !thread.join(CLOSE_TIMEOUT)) {
            log.warn("The scrub of the table still runs {} s after the stop", CLOSE_TIMEOUT.toSeconds());
        }
    }
}
