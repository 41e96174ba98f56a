package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.tail.BrokerTopic.Extent;
import dev.puri.tail.Moment;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class SightingTest {
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");
    private static final Duration TRUSTED = Duration.ofDays(6);
    private static final Uuid ROWS = Uuid.randomUuid();
    private static final Uuid DOCUMENTS = Uuid.randomUuid();

    private final Sighting sighting = new Sighting(
            Map.of(
                    EntryKind.IDENTITY,
                    new Extent(ROWS, Map.of(0, 10L, 1, 20L)),
                    EntryKind.DOCUMENT,
                    new Extent(DOCUMENTS, Map.of(0, 5L, 1, 5L))),
            Map.of(EntryKind.IDENTITY, Map.of(0, 2L, 1, 0L), EntryKind.DOCUMENT, Map.of(0, 0L, 1, 0L)),
            new Moment(0, NOW));

    @Test
    void anIndexOfTheseTopicsIsGoneOnWith() {
        assertThat(misfit(reached(ROWS, Map.of(0, 10L, 1, 3L), NOW))).isNull();
        assertThat(misfit(IndexCheckpoint.NONE)).isNull();
    }

    @Test
    void anotherOneIsNot() {
        assertThat(misfit(reached(Uuid.randomUuid(), Map.of(0, 1L, 1, 1L), NOW)))
                .contains("was made anew");
        assertThat(misfit(reached(ROWS, Map.of(0, 1L), NOW))).contains("2 partitions instead of 1");
        assertThat(misfit(reached(ROWS, Map.of(0, 11L, 1, 0L), NOW))).contains("which ends before");
        assertThat(misfit(reached(ROWS, Map.of(0, 1L, 1, 0L), NOW))).contains("which begins after");
    }

    @Test
    void norOneThatMayHaveMissedWhatWasErased() {
        Map<Integer, Long> offsets = Map.of(0, 2L, 1, 1L);

        assertThat(misfit(reached(ROWS, offsets, NOW.minus(TRUSTED)))).isNull();
        assertThat(misfit(reached(ROWS, offsets, NOW.minus(TRUSTED).minusSeconds(1))))
                .contains("may have missed what was erased");
        assertThat(misfit(reached(ROWS, offsets, NOW.plus(Duration.ofDays(2))))).contains("which is to come");
    }

    @Test
    void behindIsWhatIsBetweenAReaderAndTheEnds() {
        Places reader = Places.of(reached(ROWS, Map.of(0, 7L, 1, 20L), NOW), sighting);

        assertThat(sighting.behind(reader)).isEqualTo(3 + 0 + 4 + 4);
        assertThat(sighting.end()).isEqualTo(40);
    }

    @Test
    void anEmptyIndexBeginsWhereItsTopicsDo() {
        Places reader = Places.of(IndexCheckpoint.NONE, sighting);

        assertThat(reader.byKind().get(EntryKind.IDENTITY)).isEqualTo(Map.of(0, 2L, 1, 0L));
        assertThat(sighting.behind(reader)).isEqualTo(8 + 20 + 5 + 5);
    }

    private @Nullable String misfit(IndexCheckpoint reached) {
        return sighting.misfit(reached, TRUSTED, NOW);
    }

    private static IndexCheckpoint reached(Uuid rows, Map<Integer, Long> offsets, Instant asOf) {
        return new IndexCheckpoint(
                Map.of(EntryKind.IDENTITY, rows.toString(), EntryKind.DOCUMENT, DOCUMENTS.toString()),
                Map.of(EntryKind.IDENTITY, offsets, EntryKind.DOCUMENT, Map.of(0, 1L, 1, 1L)),
                asOf,
                true,
                null);
    }
}
