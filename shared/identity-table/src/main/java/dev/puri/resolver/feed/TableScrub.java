package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
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

    /** Shorter pauses are added up, because each costs a context switch. */
    private static final Duration MIN_PAUSE = Duration.ofMillis(10);

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
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("table-scrub", stop, RETRY_POLICY, this::run, TableScrub::onFailure);

    /** Time to wait to keep the rate, in nanoseconds, of pauses that are not taken yet. */
    private long pendingPauseNanos;

    /**
     * @param partitions the number of partitions of the topic
     * @param digests receives the results
     * @param rowsPerSecond the maximum number of rows and of entries of the index of handles per second; 0 to check
     *     nothing
     */
    TableScrub(PackedTable table, int partitions, DigestCheck digests, long rowsPerSecond) {
        this.table = table;
        this.partitions = partitions;
        this.digests = digests;
        this.rowsPerSecond = rowsPerSecond;
    }

    void start() {
        if (rowsPerSecond > 0) {
            thread.start();
        }
    }

    private void run() {
        while (!stop.isRequested()) {
            long startNanos = System.nanoTime();
            pass();
            stop.awaitRequest(MIN_PASS_TIME.minusNanos(System.nanoTime() - startNanos));
        }
    }

    private static void onFailure(Throwable cause) {
        log.error("The scrub of the table failed, and is retried", cause);
    }

    /** Checks all parts of the table and of the index of handles once. Returns early after {@link #close}. */
    void pass() {
        Set<Integer> differing = new TreeSet<>();
        boolean isComplete = true;
        for (int part = 0; part < table.partCount() && !stop.isRequested(); part++) {
            int current = part;
            PartCheck rows = checkConfirmed(() -> table.checkRows(current, partitions));
            PartCheck handles = checkConfirmed(() -> table.checkHandles(current, partitions));
            isComplete &= rows.isComplete();
            for (int partition : rows.differing()) {
                digests.storedRowsDiffer(partition, "part " + part + " of the table");
            }
            for (int partition : handles.differing()) {
                digests.indexEntryDiffers(partition, "part " + part + " of the index of handles");
            }
            differing.addAll(rows.differing());
            differing.addAll(handles.differing());
        }
        for (int partition = 0; isComplete && !stop.isRequested() && partition < partitions; partition++) {
            if (!differing.contains(partition)) {
                digests.storedRowsAgree(partition);
            }
        }
    }

    /** Makes a check. Reports only differences that a second check confirms. */
    private PartCheck checkConfirmed(Supplier<PartCheck> check) {
        PartCheck first = checkUndisturbed(check);
        if (first.differing().isEmpty()) {
            return first;
        }
        PartCheck second = checkUndisturbed(check);
        List<Integer> both =
                first.differing().stream().filter(second.differing()::contains).toList();
        return new PartCheck(second.isComplete(), second.entries(), both);
    }

    /** Makes a check, and repeats it while the writer interferes. */
    private PartCheck checkUndisturbed(Supplier<PartCheck> check) {
        for (int tries = 1; ; tries++) {
            PartCheck result = check.get();
            pause(result.entries());
            if (result.isComplete() || tries == MAX_TRIES || stop.isRequested()) {
                return result;
            }
        }
    }

    private void pause(int entries) {
        pendingPauseNanos += entries * 1_000_000_000L / Math.max(1, rowsPerSecond);
        if (pendingPauseNanos >= MIN_PAUSE.toNanos()) {
            long startNanos = System.nanoTime();
            stop.awaitRequest(Duration.ofNanos(pendingPauseNanos));
            pendingPauseNanos -= System.nanoTime() - startNanos;
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
