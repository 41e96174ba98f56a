package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.verify.Difference.Field;
import dev.puri.cli.verify.Difference.Kind;
import dev.puri.cli.verify.UnknownRows.EventAtPosition;
import dev.puri.cli.verify.UnknownRows.Evidence;
import dev.puri.projection.wait.Tokens;
import dev.puri.registry.InMemoryRegistrations;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The event of a repair is refused by every registration, and changes none. */
class RepairsTest {
    private static final Puri PURI = Puri.parse("music:tracks:1");
    private static final Instant NOW = Instant.parse("2026-11-24T12:00:00Z");
    private static final int PARTITIONS = 8;
    private static final UUID UUID_OF_ROW = UUID.fromString("01970000-0000-7000-8000-000000000001");

    private final InMemoryRegistrations registrations = new InMemoryRegistrations();
    private final Repairs repairs = new Repairs("test");
    private long offset;

    @Test
    void isRefusedWhateverTheRowIs() {
        assertRefused(Reason.UNKNOWN_PURI);
        apply(new Change.Created(UUID_OF_ROW, new Owner("catalog"), new Shard("br-1"), null, Map.of()));
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Moved(null, new Shard("us-1")));
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Merged(Puri.parse("music:tracks:2")));
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Deleted());
        assertRefused(Reason.OTHER_INCARNATION);
        apply(new Change.Erased());
        assertRefused(Reason.UNKNOWN_PURI);
    }

    @Test
    void nothingIsDeletedIfTheRegistrarHasLostRows(@TempDir Path folder) throws Exception {
        assertThat(objection(folder.resolve("few"), extraRows(10))).isNull();
        assertThat(objection(folder.resolve("many"), extraRows(11)))
                .contains("does not know 11 rows of puri.identities.v1", "probably lost");
    }

    @Test
    void rowsThatARepairDoesNotDeleteDoNotStopIt(@TempDir Path folder) throws Exception {
        Stream<Difference> misplaced = extraRows(20).stream()
                .map(row -> difference((row.partition() + 1) % PARTITIONS, row.puri(), row.kind(), row.fields()));
        assertThat(objection(
                        folder, Stream.concat(misplaced, extraRows(10).stream()).toList()))
                .isNull();
    }

    @Test
    void aRowIsDeletedOnlyIfTheRegistrarHasNotLostIt() {
        Position position = Position.parse("1-9");
        assertThat(evidence(position, false, EventAtPosition.OTHER).ofLoss()).isNull();
        assertThat(evidence(null, false, EventAtPosition.OTHER).ofLoss()).isNull();
        assertThat(evidence(position, false, EventAtPosition.OF_ROW).ofLoss()).isEqualTo("its event 1-9 is in the log");
        assertThat(evidence(position, false, EventAtPosition.EXPIRED).ofLoss()).isEqualTo("its event 1-9 has expired");
        assertThat(evidence(position, true, EventAtPosition.OTHER).ofLoss()).isEqualTo("the registrar wrote the row");
        assertThat(evidence(position, true, EventAtPosition.EXPIRED).ofLoss()).isEqualTo("the registrar wrote the row");
        assertThat(evidence(null, true, EventAtPosition.OTHER).ofLoss()).isEqualTo("the registrar wrote the row");
    }

    @Test
    void aRowOfAnIdentityThatWasErasedLaterIsDeleted() {
        Position position = Position.parse("1-9");
        assertThat(evidence(position, true, EventAtPosition.OF_ROW, "1-8", "1-10")
                        .ofLoss())
                .isNull();
        assertThat(evidence(position, false, EventAtPosition.EXPIRED, "1-10").ofLoss())
                .isNull();
        for (String other : List.of("1-8", "1-9", "2-10", "music-1-10")) {
            assertThat(evidence(position, false, EventAtPosition.OF_ROW, other).ofLoss())
                    .as(other)
                    .isNotNull();
        }
    }

    private static Evidence evidence(
            @Nullable Position position, boolean isOfRegistrar, EventAtPosition event, String... erasures) {
        return new Evidence(
                position,
                isOfRegistrar,
                event,
                Stream.of(erasures).map(Position::parse).toList());
    }

    @Test
    void onlyARowInThePartitionOfItsPuriIsRepaired() {
        int partition = partition(PURI.toString());
        int other = (partition + 1) % PARTITIONS;
        assertThat(Repairs.obstacle(difference(partition, PURI.toString(), Kind.EXTRA, Map.of()), PARTITIONS))
                .isNull();
        assertThat(Repairs.obstacle(difference(other, PURI.toString(), Kind.EXTRA, Map.of()), PARTITIONS))
                .contains(
                        "the registrar writes the pURI to partition " + partition,
                        "A tombstone in partition " + other + " deletes it");
        Difference document = new Difference(
                RegistryReader.REGISTRAR, Topics.DOCUMENTS, other, PURI.toString(), null, Kind.EXTRA, Map.of(), null);
        assertThat(Repairs.obstacle(document, PARTITIONS)).contains("A tombstone in partition " + other);
        assertThat(Repairs.obstacle(difference(partition, "Music:tracks:1", Kind.EXTRA, Map.of()), PARTITIONS))
                .isEqualTo("no event can have this key");
    }

    @Test
    void nothingIsOverwrittenIfTheTopicHasNewerRows(@TempDir Path folder) throws Exception {
        assertThat(objection(folder.resolve("same"), List.of(differing(Map.of("shard", field("br-1", "eu-9"))))))
                .isNull();
        assertThat(objection(
                        folder.resolve("older"),
                        List.of(differing(Map.of("epoch", field("3", "2"), "position", field("1-10", "1-9"))))))
                .isNull();
        assertThat(objection(folder.resolve("otherLog"), List.of(differing(Map.of("position", field("1-8", "2-9"))))))
                .isNull();
        assertThat(objection(folder.resolve("otherTopic"), List.of(ofOtherTopic("2026-03-01T10:00:00Z"))))
                .isNull();
        assertThat(objection(folder.resolve("unreadable"), List.of(differing(Map.of("epoch", field("1", null))))))
                .isNull();
        assertThat(objection(folder.resolve("epoch"), List.of(differing(Map.of("epoch", field("9", "10"))))))
                .contains("newer rows or tombstones of 1 pURIs", "probably old");
        assertThat(objection(folder.resolve("position"), List.of(differing(Map.of("position", field("1-9", "1-10"))))))
                .contains("newer rows or tombstones of 1 pURIs", "probably old");
        assertThat(objection(folder.resolve("otherTopicLater"), List.of(ofOtherTopic("2026-03-01T10:00:02Z"))))
                .contains("newer rows or tombstones of 1 pURIs", "probably old");
    }

    /** Returns the difference of a row whose namespace has got its own events topic; it moved at 10:00:01 before. */
    private static Difference ofOtherTopic(String changedAt) {
        return differing(
                Map.of("position", field("1-8", "music-1-2"), "changedAt", field("2026-03-01T10:00:01Z", changedAt)));
    }

    @Test
    void noErasedRowIsWrittenAgainIfTheTopicHasALaterTombstone(@TempDir Path folder) throws Exception {
        assertThat(objection(folder.resolve("none"), List.of(missing(null)))).isNull();
        assertThat(objection(folder.resolve("older"), List.of(missing("1-8")))).isNull();
        assertThat(objection(folder.resolve("same"), List.of(missing("1-9")))).isNull();
        assertThat(objection(folder.resolve("otherLog"), List.of(missing("2-10"))))
                .isNull();
        assertThat(objection(folder.resolve("otherTopic"), List.of(missing("music-1-2"))))
                .contains("newer rows or tombstones of 1 pURIs", "probably old");
        assertThat(objection(folder.resolve("later"), List.of(missing("1-8"), missing("1-10"))))
                .contains("newer rows or tombstones of 1 pURIs", "probably old");
    }

    /** Returns the difference of a row with an event at 1-9 that the topic does not have, or only as a tombstone. */
    private static Difference missing(@Nullable String tombstone) {
        Map<String, String> row = Map.of("epoch", "1", "position", "1-9");
        Position position = tombstone == null ? null : Position.parse(tombstone);
        return difference(1, PURI.toString(), Kind.MISSING, LogComparison.fields(row, null, position));
    }

    /** Returns differences of rows that the registrar does not know, in the partitions of their pURIs. */
    private static List<Difference> extraRows(int count) {
        return IntStream.range(0, count)
                .mapToObj(i ->
                        difference(partition("a:b:" + i), "a:b:" + i, Kind.EXTRA, Map.of("epoch", field(null, "1"))))
                .toList();
    }

    private static Difference differing(Map<String, Field> fields) {
        return difference(3, PURI.toString(), Kind.DIFFERS, fields);
    }

    private static Difference difference(int partition, String puri, Kind kind, Map<String, Field> fields) {
        return new Difference(RegistryReader.REGISTRAR, Topics.IDENTITIES, partition, puri, null, kind, fields, null);
    }

    private static Field field(@Nullable String expected, @Nullable String found) {
        return new Field(expected, found);
    }

    private static @Nullable String objection(Path path, List<Difference> differences) throws IOException {
        VerifyFolder folder = new VerifyFolder(path);
        try (OutputStream file = folder.openDifferences(0)) {
            for (Difference difference : differences) {
                file.write(VerifyFolder.line(difference));
            }
        }
        return Repairs.objection(folder, PARTITIONS);
    }

    private static int partition(String puri) {
        return Tokens.partition(Puri.parse(puri), PARTITIONS);
    }

    private void apply(Change change) {
        assertThat(decide(new Event(repairs.event(PURI, NOW).eventId(), PURI, NOW, "test", null, null, change)))
                .isNull();
    }

    private void assertRefused(Reason reason) {
        Row before = registrations.row(PURI);
        Refusal refusal = decide(repairs.event(PURI, NOW));
        assertThat(refusal).isNotNull();
        assertThat(refusal.reason()).isEqualTo(reason);
        assertThat(registrations.row(PURI)).isEqualTo(before);
    }

    private @Nullable Refusal decide(Event event) {
        return registrations.apply(event, new Position(Topics.EVENTS, 0, offset++), Declarations.none());
    }
}
