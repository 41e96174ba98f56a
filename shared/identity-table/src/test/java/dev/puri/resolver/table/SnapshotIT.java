package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.Rows;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Snapshots of tables that are large or change during the dump, and many damaged snapshots. */
final class SnapshotIT extends SnapshotFile {
    /**
     * So many that each thread gathers more of a segment's handles than a page holds, and a table has several
     * blocks.
     */
    @Test
    void opensALargeTableAsWritten() throws Exception {
        int rows = 1_200_000;
        PackedTable table = new PackedTable();
        for (int i = 0; i < rows; i++) {
            table.put(numbered(i), Rows.active("br-" + i % 3, handleOf(i).text()));
        }
        table.writeSnapshot(file(), ORIGIN, NOW);

        PackedTable opened = PackedTable.open(file(), terms());

        assertThat(opened.rows()).isEqualTo(rows);
        for (int i = 0; i < rows; i++) {
            Identity found = opened.byHandle(handleOf(i));
            if (found == null || !found.puri().equals(numbered(i)) || opened.byPuri(numbered(i)) == null) {
                throw new AssertionError("row " + i + " is " + found);
            }
        }
        assertThat(opened.stats().handles()).isEqualTo(rows);
        assertThat(opened.stats().byShard()).isEqualTo(table.stats().byShard());
    }

    /** The writer continues during the dump; the records that compaction leaves in the topic are replayed. */
    @Test
    void snapshotDuringWritesPlusLaterRecordsEqualsTheTable() throws Exception {
        History history = new History(seed);
        PackedTable table = new PackedTable();
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Long> writing = CompletableFuture.supplyAsync(() -> {
            long offset = 0;
            while (!over.get()) {
                history.at(offset++).applyTo(table);
                if (offset % 100 == 0) {
                    table.setNextOffset(0, offset);
                }
            }
            return offset;
        });
        try {
            for (int round = 0; round < 10; round++) {
                long before = table.nextOffset(0);
                table.writeSnapshot(folder.resolve("snapshot" + round), ORIGIN, NOW);
                // Otherwise nothing was written meanwhile.
                while (table.nextOffset(0) == before && !writing.isDone()) {
                    Thread.onSpinWait();
                }
            }
        } finally {
            over.set(true);
        }
        long end = writing.get(20, TimeUnit.SECONDS);
        Map<Puri, Long> last = new HashMap<>();
        for (long offset = 0; offset < end; offset++) {
            last.put(history.at(offset).puri(), offset);
        }
        Map<Puri, Row> model = new HashMap<>();
        last.forEach((puri, offset) -> {
            Row row = history.at(offset).row();
            if (row != null) {
                model.put(puri, row);
            }
        });
        for (int round = 0; round < 10; round++) {
            PackedTable opened = PackedTable.open(folder.resolve("snapshot" + round), terms());
            // Compacted: of each name only the last record is left, tombstones among them.
            last.values().stream()
                    .filter(offset -> offset >= opened.nextOffset(0))
                    .sorted()
                    .forEach(offset -> history.at(offset).applyTo(opened));
            assertSame(opened, model);
        }
    }

    @Test
    void refusesASnapshotWithAFlippedBit() throws Exception {
        byte[] whole = written(100);
        for (int i = 0; i < 2_000; i++) {
            byte[] flipped = whole.clone();
            int at = i < 200 ? i : i < 400 ? whole.length - 1 - (i - 200) : random.nextInt(whole.length);
            flipped[at] ^= (byte) (1 << random.nextInt(8));
            assertRefused(flipped);
        }
    }
}
