package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.EndOffsets;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.TopicEnds;
import dev.puri.resolver.Rows;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotRequirements;
import dev.puri.schemas.identity.Puri;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which changes of a table make its last snapshot outdated. */
final class SnapshotsTest {
    private static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");
    private static final InstantSource CLOCK = InstantSource.fixed(NOW);
    private static final Map<Integer, Long> BEGINS = Map.of(0, 0L, 1, 0L);
    private static final TopicEnds ENDS =
            new TopicEnds(new Uuid(1, 2), new EndOffsets(BEGINS, ObservationTime.now(CLOCK)));
    private static final Puri PURI = Puri.parse("soundcloud:tracks:1");
    private static final long FIRST_OFFSET = 5;

    @TempDir
    private Path folder;

    private final PackedTable table = new PackedTable();
    private Snapshots.SnapshotWriting writing;

    @Test
    void offsetsWithoutAChangedRowWriteNoSnapshot() throws Exception {
        PackedTable opened = openSnapshotAfter(() -> table.setNextOffset(0, FIRST_OFFSET + 20));

        assertThat(opened.nextOffset(0)).isEqualTo(FIRST_OFFSET);
    }

    @Test
    void aChangedRowWritesASnapshot() throws Exception {
        PackedTable opened = openSnapshotAfter(() -> {
            table.put(PURI, Rows.active("br-2"));
            table.setNextOffset(0, FIRST_OFFSET + 1);
        });

        assertThat(opened.nextOffset(0)).isEqualTo(FIRST_OFFSET + 1);
        assertThat(opened.byPuri(PURI)).isEqualTo(table.byPuri(PURI));
    }

    @Test
    void manyOffsetsWithoutAChangedRowWriteASnapshot() throws Exception {
        long offset = FIRST_OFFSET + Snapshots.MAX_UNWRITTEN_OFFSETS + 1;

        PackedTable opened = openSnapshotAfter(() -> table.setNextOffset(0, offset));

        assertThat(opened.nextOffset(0)).isEqualTo(offset);
    }

    /** A restart then needs no earlier record. */
    @Test
    void theLastSnapshotHasTheOffsetsOfTheTable() throws Exception {
        PackedTable opened = openSnapshotAfter(() -> {
            table.setNextOffset(0, FIRST_OFFSET + 20);
            writing.writeIfChanged(0);
        });

        assertThat(opened.nextOffset(0)).isEqualTo(FIRST_OFFSET + 20);
    }

    /** Writes a snapshot, changes the table, writes a snapshot if the table needs one, and opens the snapshot. */
    private PackedTable openSnapshotAfter(Runnable change) throws Exception {
        FedTable fed = FedTable.of(table, ENDS, CLOCK);
        fed.staleness().observe(ENDS);
        writing = new Snapshots(folder, Duration.ofHours(1), CLOCK).writerOf(fed);
        table.put(PURI, Rows.active("br-1"));
        table.setNextOffset(0, FIRST_OFFSET);
        writing.writeIfChanged(Snapshots.MAX_UNWRITTEN_OFFSETS);
        change.run();
        writing.writeIfChanged(Snapshots.MAX_UNWRITTEN_OFFSETS);
        return PackedTable.open(
                Snapshots.fileIn(folder),
                new SnapshotRequirements(
                        ENDS.topicId(), BEGINS, Map.of(0, 1_000_000L, 1, 1_000_000L), Duration.ofDays(7), NOW));
    }
}
