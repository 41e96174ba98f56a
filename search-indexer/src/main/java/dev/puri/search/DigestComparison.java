package dev.puri.search;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.TimeBudget;
import dev.puri.search.ChangeDecoder.DecodedRecord;
import dev.puri.search.index.EntryDigests;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * Compares the digests that the registrar publishes with the digests of an index. A comparison refreshes and scans the
 * index, so comparisons have a budget of a twentieth of the time. A digest that arrives when the budget is used up is
 * skipped. But a partition that was not compared for five minutes is compared in any case. Each partition publishes
 * another digest within a minute.
 *
 * <p>Only the feeder's thread may use it; {@link #check} is thread-safe.
 */
final class DigestComparison {
    private static final String ADVICE = "run puri search verify, then puri search reindex";

    private static final int TIME_DIVISOR = 20;

    /**
     * The maximum credit is the budget of one minute, because the digests of all partitions may arrive together once a
     * minute. A pause after each comparison would skip the same partitions every time.
     */
    private static final Duration MAX_CREDIT = Duration.ofMinutes(1).dividedBy(TIME_DIVISOR);

    /**
     * The time without a comparison after which a partition is compared even without credit. Without this limit,
     * digests of partitions that change often could use up the credit of a partition at rest. Half of the time after
     * which operators are alerted.
     */
    static final Duration MAX_TIME_SKIPPED = Duration.ofMinutes(5);

    private final Map<EntryKind, DigestCheck> checks = new EnumMap<>(EntryKind.class);
    private final TimeBudget budget;
    private final LongSupplier nanoTime;

    /** Reads the digests of the index, including all applied changes. */
    @FunctionalInterface
    interface IndexDigests {
        EntryDigests read() throws IndexUnavailableException;
    }

    /**
     * @param checkpoint the last committed checkpoint of the index
     * @param source current offsets of the topics
     * @param nanoTime {@link System#nanoTime}, or the clock of a test
     */
    DigestComparison(IndexCheckpoint checkpoint, SourceOffsets source, InstantSource clock, LongSupplier nanoTime) {
        for (EntryKind kind : EntryKind.values()) {
            checks.put(kind, new DigestCheck(kind.topic(), ADVICE, firstComparable(kind, checkpoint, source), clock));
        }
        budget = new TimeBudget(TIME_DIVISOR, MAX_CREDIT, nanoTime);
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the first offset of each partition whose digest can be compared. An index without a checkpoint is empty.
     * An index that was opened at a checkpoint may already contain changes after the checkpoint, up to the end offsets
     * at that time. So only digests at or after these end offsets can be compared.
     */
    private static Map<Integer, Long> firstComparable(
            EntryKind kind, IndexCheckpoint checkpoint, SourceOffsets source) {
        Map<Integer, Long> offsets = new HashMap<>(source.endsOf(kind).byPartition());
        if (checkpoint.topicIds().isEmpty()) {
            offsets.replaceAll((partition, end) -> 0L);
        }
        return offsets;
    }

    /** Returns the check of the entries of a kind. Thread-safe. */
    DigestCheck check(EntryKind kind) {
        return Objects.requireNonNull(checks.get(kind));
    }

    /** Whether the digest in a record can be compared, and its partition is not skipped to save time. */
    boolean shouldCompare(DecodedRecord record) {
        IndexChange change = record.change();
        DigestCheck check = check(change.kind());
        return check.isComparable(
                        change.partition(), change.offset(), record.writtenAt().toEpochMilli())
                && (budget.hasCredit()
                        || check.timeUnchecked(change.partition()).compareTo(MAX_TIME_SKIPPED) > 0);
    }

    /** Compares published digests with those of the index, which has applied exactly the records before them. */
    void compare(List<DecodedRecord> published, IndexDigests indexDigests) throws IndexUnavailableException {
        long startedAtNanos = nanoTime.getAsLong();
        try {
            EntryDigests digests = indexDigests.read();
            for (DecodedRecord record : published) {
                IndexChange change = record.change();
                check(change.kind())
                        .compare(
                                change.partition(),
                                change.offset(),
                                Objects.requireNonNull(record.digest()),
                                digests.of(change.kind(), change.partition()));
            }
        } finally {
            budget.spend(nanoTime.getAsLong() - startedAtNanos);
        }
    }

    /** Returns the field {@code topics} of the response of {@code GET /v1/digest}. */
    List<Map<String, Object>> toJson(NextOffsets nextOffsets, EntryDigests digests) {
        List<Map<String, Object>> topics = new ArrayList<>();
        nextOffsets.byKind().forEach((kind, offsets) -> {
            List<Map<String, Object>> partitions = new ArrayList<>();
            offsets.forEach((partition, nextOffset) ->
                    partitions.add(check(kind).toJson(partition, nextOffset, digests.of(kind, partition))));
            topics.add(DigestCheck.topicJson(kind.topic(), partitions));
        });
        return topics;
    }
}
