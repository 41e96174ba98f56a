package dev.puri.search;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.DigestMeters;
import dev.puri.search.index.EntryKind;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** The metrics of the indexing. */
final class IndexMeters {
    private static final Duration[] BUCKETS = LongStream.of(50, 100, 200, 300, 400, 600, 1_000, 1_500, 3_000, 10_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final MeterRegistry meters;
    private final Map<EntryKind, Counter> appliedChanges = new EnumMap<>(EntryKind.class);
    private final Map<EntryKind, DigestMeters> digests = new EnumMap<>(EntryKind.class);
    private final Timer refreshes;
    private final Timer commits;
    private final Timer purges;
    private final Timer freshness;
    private final Counter retries;
    private final Counter rebuilds;

    IndexMeters(MeterRegistry meters) {
        this.meters = meters;
        for (EntryKind kind : EntryKind.values()) {
            appliedChanges.put(
                    kind,
                    Counter.builder("puri.search.indexed")
                            .description("Changes that the index has applied")
                            .tag("kind", kind.text())
                            .register(meters));
        }
        refreshes = Timer.builder("puri.search.refreshes")
                .description("Refreshes, which make applied changes visible to readers")
                .register(meters);
        commits = Timer.builder("puri.search.commits")
                .description("Commits, which make applied changes durable")
                .register(meters);
        purges = Timer.builder("puri.search.purges")
                .description("Purges, which rewrite files with erased entries")
                .register(meters);
        freshness = Timer.builder("puri.search.freshness")
                .description(
                        "Time from the timestamp of a record until searches find it; the oldest record of each refresh")
                .serviceLevelObjectives(BUCKETS)
                .register(meters);
        retries = Counter.builder("puri.search.retries")
                .description("Retries because the engine, the brokers or the schema registry did not answer")
                .register(meters);
        rebuilds = Counter.builder("puri.search.rebuilds")
                .description("Rebuilds of the index because the existing index did not match its topics")
                .register(meters);
    }

    /**
     * Registers the metrics of the digests. May be called once.
     *
     * @param checkOf returns whether the serving index agrees with the registrar; null if no index serves
     */
    void registerDigests(Function<EntryKind, @Nullable DigestCheck> checkOf) {
        for (EntryKind kind : EntryKind.values()) {
            digests.put(kind, DigestCheck.meter(kind.topic(), () -> checkOf.apply(kind), meters));
        }
    }

    /** Registers the metrics of the digests of partitions that have none yet. */
    void registerPartitions(SourceOffsets source) {
        digests.forEach((kind, ofKind) ->
                ofKind.register(source.endsOf(kind).byPartition().size()));
    }

    void countApplied(List<ChangeDecoder.DecodedRecord> records) {
        for (EntryKind kind : EntryKind.values()) {
            long count = records.stream()
                    .filter(record -> record.change().kind() == kind)
                    .count();
            Objects.requireNonNull(appliedChanges.get(kind)).increment(count);
        }
    }

    Timer refreshes() {
        return refreshes;
    }

    Timer commits() {
        return commits;
    }

    Timer purges() {
        return purges;
    }

    Timer freshness() {
        return freshness;
    }

    void countRetry() {
        retries.increment();
    }

    void countRebuild() {
        rebuilds.increment();
    }
}
