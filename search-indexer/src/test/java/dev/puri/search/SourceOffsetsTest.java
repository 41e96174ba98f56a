package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.EndOffsets;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.TopicEnds;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SourceOffsetsTest {
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");
    private static final ObservationTime AT = new ObservationTime(0, NOW);
    private static final EndOffsets NO_DOCUMENTS = new EndOffsets(Map.of(), AT);
    private static final Duration TRUSTED = Duration.ofDays(6);
    private static final Uuid ROWS = Uuid.randomUuid();
    private static final Uuid DOCUMENTS = Uuid.randomUuid();

    private final SourceOffsets source = new SourceOffsets(
            Map.of(
                    EntryKind.IDENTITY,
                    ends(ROWS, Map.of(0, 10L, 1, 20L)),
                    EntryKind.DOCUMENT,
                    ends(DOCUMENTS, Map.of(0, 5L, 1, 5L))),
            Map.of(EntryKind.IDENTITY, Map.of(0, 2L, 1, 0L), EntryKind.DOCUMENT, Map.of(0, 0L, 1, 0L)),
            NO_DOCUMENTS,
            AT);

    @Test
    void anIndexOfTheseTopicsIsFedFromItsCheckpoint() {
        assertThat(mismatch(reached(ROWS, Map.of(0, 10L, 1, 3L), NOW))).isNull();
    }

    @Test
    void anEmptyIndexCannotBeFilledFromTopicsWithoutTheirFirstRecords() {
        assertThat(mismatch(IndexCheckpoint.NONE))
                .isEqualTo(source.truncation())
                .contains("records of partition 0 of puri.identities.v1 before offset 2 were deleted");
        SourceOffsets whole = new SourceOffsets(source.ends(), Map.of(), NO_DOCUMENTS, AT);
        assertThat(whole.truncation()).isNull();
        assertThat(whole.mismatch(IndexCheckpoint.NONE, TRUSTED, NOW)).isNull();
    }

    @Test
    void anIndexOfOtherTopicsOrOffsetsIsRebuilt() {
        assertThat(mismatch(reached(Uuid.randomUuid(), Map.of(0, 1L, 1, 1L), NOW)))
                .contains("was deleted and created again");
        assertThat(mismatch(reached(ROWS, Map.of(0, 1L), NOW)))
                .contains("2 partitions, but the index was built from 1");
        assertThat(mismatch(reached(ROWS, Map.of(0, 11L, 1, 0L), NOW))).contains("is after the end of");
        assertThat(mismatch(reached(ROWS, Map.of(0, 1L, 1, 0L), NOW))).contains("is before the beginning of");
    }

    @Test
    void anIndexThatMayHaveMissedErasuresIsRebuilt() {
        Map<Integer, Long> offsets = Map.of(0, 2L, 1, 1L);

        assertThat(mismatch(reached(ROWS, offsets, NOW.minus(TRUSTED)))).isNull();
        assertThat(mismatch(reached(ROWS, offsets, NOW.minus(TRUSTED).minusSeconds(1))))
                .contains("may have missed erasures");
        assertThat(mismatch(reached(ROWS, offsets, NOW.plus(Duration.ofDays(2)))))
                .contains("which is in the future");
    }

    @Test
    void lagIsTheNumberOfOffsetsBetweenAReaderAndTheEnds() {
        NextOffsets reader = NextOffsets.of(reached(ROWS, Map.of(0, 7L, 1, 20L), NOW), source);

        assertThat(source.lag(reader)).isEqualTo(3 + 0 + 4 + 4);
        assertThat(source.sumOfEnds()).isEqualTo(40);
    }

    @Test
    void anEmptyIndexStartsAtTheBeginningOffsets() {
        NextOffsets reader = NextOffsets.of(IndexCheckpoint.NONE, source);

        assertThat(reader.byKind().get(EntryKind.IDENTITY)).isEqualTo(Map.of(0, 2L, 1, 0L));
        assertThat(source.lag(reader)).isEqualTo(8 + 20 + 5 + 5);
    }

    private @Nullable String mismatch(IndexCheckpoint reached) {
        return source.mismatch(reached, TRUSTED, NOW);
    }

    private static TopicEnds ends(Uuid topicId, Map<Integer, Long> byPartition) {
        return new TopicEnds(topicId, new EndOffsets(byPartition, AT));
    }

    private static IndexCheckpoint reached(Uuid rows, Map<Integer, Long> offsets, Instant completeUpTo) {
        return new IndexCheckpoint(
                Map.of(EntryKind.IDENTITY, rows.toString(), EntryKind.DOCUMENT, DOCUMENTS.toString()),
                Map.of(EntryKind.IDENTITY, offsets, EntryKind.DOCUMENT, Map.of(0, 1L, 1, 1L)),
                completeUpTo,
                true,
                null);
    }
}
