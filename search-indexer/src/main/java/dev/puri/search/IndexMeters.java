package dev.puri.search;

import dev.puri.search.index.EntryKind;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;

/** What is counted of the indexing. */
final class IndexMeters {
    private static final Duration[] BUCKETS = LongStream.of(50, 100, 200, 300, 400, 600, 1_000, 1_500, 3_000, 10_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final Map<EntryKind, Counter> taken = new EnumMap<>(EntryKind.class);
    private final Timer refreshes;
    private final Timer commits;
    private final Timer purges;
    private final Timer freshness;
    private final Counter retries;
    private final Counter rebuilds;

    IndexMeters(MeterRegistry meters) {
        for (EntryKind kind : EntryKind.values()) {
            taken.put(
                    kind,
                    Counter.builder("puri.search.indexed")
                            .description("Changes that the index has taken")
                            .tag("kind", name(kind))
                            .register(meters));
        }
        refreshes = Timer.builder("puri.search.refreshes")
                .description("Refreshes, which let readers see what was taken")
                .register(meters);
        commits = Timer.builder("puri.search.commits")
                .description("Commits, which keep what was taken")
                .register(meters);
        purges = Timer.builder("puri.search.purges")
                .description("Rewritings of what still held erased entries")
                .register(meters);
        freshness = Timer.builder("puri.search.freshness")
                .description("From a record's time in its topic until it could be found, the oldest of each refresh")
                .serviceLevelObjectives(BUCKETS)
                .register(meters);
        retries = Counter.builder("puri.search.retries")
                .description("Batches tried again because the engine, the brokers or the registry were away")
                .register(meters);
        rebuilds = Counter.builder("puri.search.rebuilds")
                .description("Indices begun anew because the one before could not be gone on with")
                .register(meters);
    }

    /** The kind in tags and answers. */
    static String name(EntryKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    void taken(List<ChangeReader.Read> changes) {
        for (EntryKind kind : EntryKind.values()) {
            long count = changes.stream()
                    .filter(each -> each.change().kind() == kind)
                    .count();
            Objects.requireNonNull(taken.get(kind)).increment(count);
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

    void retried() {
        retries.increment();
    }

    void rebuilt() {
        rebuilds.increment();
    }
}
