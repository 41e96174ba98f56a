package dev.puri.search;

import dev.puri.http.Health;
import dev.puri.projection.FailureState;
import dev.puri.projection.ObservationTime;
import dev.puri.search.index.EntryKind;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reports whether an index serves searches and is fresh enough, and if not, why. Thread-safe. */
final class IndexHealth {
    /**
     * Time for which health shows the last failure. While a disk is full, the engine fails again within this time, even
     * though the index is opened again in between.
     */
    private static final Duration FAILURE_DISPLAY_TIME = Duration.ofMinutes(1);

    private final Indexer indexer;
    private final IndexRebuild rebuild;
    private final FailureState updateFailure;
    private final Indexer.Limits limits;
    private final InstantSource clock;
    private final Supplier<@Nullable String> openTransaction;
    private volatile @Nullable Failure lastFailure;
    private final FailureState purgeFailure = new FailureState();
    private final FailureState scrubFailure = new FailureState();

    /** The last failure of the engine. */
    private record Failure(String reason, ObservationTime at) {}

    /**
     * @param updateFailure why the indexer's thread cannot update the index
     * @param openTransaction describes an open transaction that holds back the last stable offset; null if there is
     *     none
     */
    IndexHealth(
            Indexer indexer,
            IndexRebuild rebuild,
            FailureState updateFailure,
            Indexer.Limits limits,
            InstantSource clock,
            Supplier<@Nullable String> openTransaction) {
        this.indexer = indexer;
        this.rebuild = rebuild;
        this.updateFailure = updateFailure;
        this.limits = limits;
        this.clock = clock;
        this.openTransaction = openTransaction;
    }

    /** Records a failure of the engine. */
    void recordFailure(String reason) {
        lastFailure = new Failure(reason, ObservationTime.now(clock));
    }

    /** Returns why purges fail now. */
    FailureState purgeFailure() {
        return purgeFailure;
    }

    /** Returns why the comparison of the stored entries with their hashes fails now. */
    FailureState scrubFailure() {
        return scrubFailure;
    }

    /** Whether an index serves, is being updated, and its lag and staleness are within their limits. */
    boolean isReady() {
        return notReadyReason() == null;
    }

    /** Returns the lag of the serving index in offsets; null if it is unknown. */
    @Nullable
    Long lag() {
        SourceOffsets endOffsets = indexer.endOffsets().lastOffsets();
        IndexFeeder servingFeeder = indexer.servingFeeder();
        return endOffsets == null || servingFeeder == null ? null : endOffsets.lag(servingFeeder.visibleOffsets());
    }

    /** Returns how long ago the serving index was certainly complete; null while no index serves. */
    @Nullable
    Duration staleness() {
        ServingIndex serving = indexer.serving();
        return serving == null ? null : serving.completeUpTo().age(clock);
    }

    /** Returns a human-readable reason why searches have to wait. */
    String waitReason() {
        return Objects.requireNonNullElse(notReadyReason(), "the index is ready");
    }

    /** Up while an index serves. */
    Health.State started() {
        Map<String, Object> details = details();
        return indexer.serving() != null ? Health.State.up(details) : Health.State.down(details);
    }

    /** Up while {@link #isReady}. */
    Health.State ready() {
        String reason = notReadyReason();
        Map<String, Object> details = details();
        if (reason == null) {
            return Health.State.up(details);
        }
        details.put("reason", reason);
        return Health.State.down(details);
    }

    private @Nullable String notReadyReason() {
        IndexFeeder servingFeeder = indexer.servingFeeder();
        String threadProblem = updateFailure.reason();
        if (servingFeeder == null) {
            IndexFeeder firstFeeder = indexer.primaryFeeder();
            String feederProblem = firstFeeder != null ? firstFeeder.waitReason() : rebuild.waitReason();
            return feederProblem != null
                    ? feederProblem
                    : threadProblem != null ? threadProblem : "the index is being filled";
        }
        String difference = difference(servingFeeder);
        if (difference != null) {
            return difference;
        }
        SourceOffsets endOffsets = indexer.endOffsets().lastOffsets();
        String truncation = endOffsets == null ? null : endOffsets.truncation();
        if (truncation != null) {
            return truncation;
        }
        String feederProblem = servingFeeder.waitReason();
        if (feederProblem != null) {
            return feederProblem;
        }
        Long lag = lag();
        if (endOffsets == null || lag == null || endOffsets.at().age(clock).compareTo(limits.maxLagAge()) > 0) {
            String endOffsetsFailure = indexer.endOffsets().failureReason();
            return endOffsetsFailure != null ? endOffsetsFailure : "the lag of the index is unknown";
        }
        if (lag > limits.maxLag()) {
            return "the lag of the index is " + lag + " offsets, more than " + limits.maxLag();
        }
        // If the engine hangs in a batch while few records arrive, the lag stays small. So check the staleness too.
        ObservationTime completeUpTo = servingFeeder.completeUpTo();
        if (completeUpTo.age(clock).compareTo(limits.maxLagAge()) > 0) {
            return "the index may lack records written after " + completeUpTo.wall();
        }
        return threadProblem != null ? threadProblem : openTransaction.get();
    }

    private static @Nullable String difference(IndexFeeder feeder) {
        for (EntryKind kind : EntryKind.values()) {
            String reason = feeder.digestCheck(kind).reason();
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    private Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("identities", indexer.size().identities());
        details.put("documents", indexer.size().documents());
        Long lag = lag();
        Duration staleness = staleness();
        if (lag != null) {
            details.put("behind", lag);
        }
        if (staleness != null) {
            details.put("ageSeconds", staleness.toMillis() / 1000.0);
        }
        SourceOffsets endOffsets = indexer.endOffsets().lastOffsets();
        IndexFeeder firstFeeder = indexer.serving() == null ? indexer.primaryFeeder() : null;
        RebuildStatus rebuildStatus = rebuild.status();
        if (rebuildStatus.isRunning()) {
            details.put("reached", rebuildStatus.reachedOffsets());
            details.put("end", rebuildStatus.endOffsets());
        } else if (firstFeeder != null && endOffsets != null) {
            details.put("reached", endOffsets.sumOfEnds() - endOffsets.lag(firstFeeder.appliedOffsets()));
            details.put("end", endOffsets.sumOfEnds());
        }
        String threadProblem = updateFailure.reason();
        String detail =
                threadProblem != null ? threadProblem : indexer.endOffsets().failureReason();
        if (detail != null) {
            details.put("detail", detail);
        }
        Failure failure = lastFailure;
        if (failure != null && failure.at().age(clock).compareTo(FAILURE_DISPLAY_TIME) < 0) {
            details.put("lastFailure", failure.reason());
        }
        putFailure("purgeFailure", purgeFailure, details);
        putFailure("scrubFailure", scrubFailure, details);
        return details;
    }

    private static void putFailure(String name, FailureState failure, Map<String, Object> details) {
        String reason = failure.reason();
        if (reason != null) {
            details.put(name, reason);
        }
    }
}
