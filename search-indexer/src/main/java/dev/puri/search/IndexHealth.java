package dev.puri.search;

import dev.puri.http.Health;
import dev.puri.tail.FailureState;
import dev.puri.tail.ObservationTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Reports whether the index serves and is fresh enough, and why not. For any thread. */
final class IndexHealth {
    /** How long a failure is shown. A full disk fails again within that time, although the index is opened between. */
    private static final Duration FAILURE_SHOWN = Duration.ofMinutes(1);

    private final Indexer indexer;
    private final IndexRebuild rebuild;
    private final FailureState trouble;
    private final Indexer.Limits limits;
    private final InstantSource clock;
    private final Supplier<@Nullable String> hanging;
    private volatile @Nullable Failure lastFailure;

    /** Why the engine failed, and when. */
    private record Failure(String why, ObservationTime at) {}

    /**
     * @param trouble why the indexer's thread cannot keep the index
     * @param hanging describes a transaction that hides later records; null when there is none
     */
    IndexHealth(
            Indexer indexer,
            IndexRebuild rebuild,
            FailureState trouble,
            Indexer.Limits limits,
            InstantSource clock,
            Supplier<@Nullable String> hanging) {
        this.indexer = indexer;
        this.rebuild = rebuild;
        this.trouble = trouble;
        this.limits = limits;
        this.clock = clock;
        this.hanging = hanging;
    }

    /** Notes that the engine failed. */
    void failed(String why) {
        lastFailure = new Failure(why, ObservationTime.now(clock));
    }

    /** Whether the serving index is fed and its lag is small. */
    boolean isReady() {
        return unready() == null;
    }

    /** The lag of the serving index, in offsets; null when not known. */
    @Nullable
    Long behind() {
        SourceOffsets seen = indexer.endOffsets().last();
        NextOffsets next = indexer.seen();
        return seen == null || next == NextOffsets.NONE ? null : seen.lag(next);
    }

    /** The staleness of the serving index: how long ago it was known to have everything. Null before there is one. */
    @Nullable
    Duration age() {
        ServingIndex now = indexer.serving();
        ObservationTime complete = now == null ? null : now.asOf();
        return complete == null ? null : complete.age(clock);
    }

    /** How long ago the brokers reported the end offsets; null when they never did. */
    @Nullable
    Duration lagAge() {
        SourceOffsets seen = indexer.endOffsets().last();
        return seen == null ? null : seen.at().age(clock);
    }

    /** Why searches have to wait, for people. */
    String progress() {
        return Objects.requireNonNullElse(unready(), "it is now");
    }

    /** Up while an index serves. */
    Health.State started() {
        Map<String, Object> details = details();
        return indexer.serving() != null ? Health.State.up(details) : Health.State.down(details);
    }

    /** Up while the serving index is fed and its lag is small. */
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
        ServingIndex now = indexer.serving();
        IndexFeeder feed = now == null ? null : now.feed();
        String wrong = trouble.reason();
        if (now == null || feed == null) {
            IndexFeeder filling = indexer.main();
            String waits = filling != null ? filling.trouble() : rebuild.trouble();
            return waits != null ? waits : wrong != null ? wrong : "the index is being filled";
        }
        String waits = feed.trouble();
        if (waits != null) {
            return waits;
        }
        Duration age = lagAge();
        Long behind = behind();
        if (age == null || behind == null || age.compareTo(limits.maxLagAge()) > 0) {
            String silent = indexer.endOffsets().trouble();
            return silent != null ? silent : "not known how far behind the index is";
        }
        if (behind > limits.maxLag()) {
            return "the index is " + behind + " offsets behind, more than " + limits.maxLag();
        }
        // An engine that never finishes a batch lags by a few records only.
        ObservationTime all = now.asOf();
        if (all.age(clock).compareTo(limits.maxLagAge()) > 0) {
            return "not known to have all that was written after " + all.wall();
        }
        return wrong != null ? wrong : hanging.get();
    }

    private Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("identities", indexer.size().identities());
        details.put("documents", indexer.size().documents());
        Long behind = behind();
        Duration age = age();
        if (behind != null) {
            details.put("behind", behind);
        }
        if (age != null) {
            details.put("ageSeconds", age.toMillis() / 1000.0);
        }
        SourceOffsets seen = indexer.endOffsets().last();
        IndexFeeder filling = indexer.serving() == null ? indexer.main() : null;
        RebuildStatus now = rebuild.status();
        if (now.isRunning()) {
            details.put("reached", now.reached());
            details.put("end", now.of());
        } else if (filling != null && seen != null) {
            details.put("reached", seen.end() - seen.lag(filling.taken()));
            details.put("end", seen.end());
        }
        String wrong = trouble.reason();
        String detail = wrong != null ? wrong : indexer.endOffsets().trouble();
        if (detail != null) {
            details.put("detail", detail);
        }
        Failure failed = lastFailure;
        if (failed != null && failed.at().age(clock).compareTo(FAILURE_SHOWN) < 0) {
            details.put("lastFailure", failed.why());
        }
        return details;
    }
}
