package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.Rows;
import dev.puri.schemas.identity.Puri;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The memory of a table after many changes. */
final class PackedTableMemoryIT {
    private final PackedTable table = new PackedTable();

    @Test
    void addingAndRemovingRowsDoesNotIncreaseMemory() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        AnyRows rows = new AnyRows(random);
        List<Puri> names = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            names.add(Puri.of("n", "c", "name" + i));
        }
        long afterFirst = 0;
        for (int round = 0; round < 200; round++) {
            for (Puri name : names) {
                if (random.nextInt(4) == 0) {
                    table.remove(name);
                } else {
                    table.put(name, rows.row(rows.handle()));
                }
            }
            if (round == 20) {
                afterFirst = table.stats().bytes();
            }
        }
        assertThat(table.stats().bytes()).as("seed %d", seed).isLessThanOrEqualTo(2 * afterFirst);

        names.forEach(table::remove);

        TableStats stats = table.stats();
        assertThat(stats.rows()).isZero();
        assertThat(stats.handles()).isZero();
        assertThat(stats.byOwner()).isEmpty();
        // A page of 2 KiB remains of each of the 1,024 segments of two indexes.
        assertThat(stats.bytesInUse()).as("seed %d", seed).isLessThanOrEqualTo(2 * 1024 * 2048);
    }

    /** A topic with few records left after compaction, in two partitions that are read one after the other. */
    @Test
    void tableGrowsAsExpectedAndNotMore() {
        int rows = 300_000;
        int offsetsARow = 40;
        table.setNextOffset(0, 0);
        table.setOffsetsToRead((long) rows * offsetsARow);
        double least = 1;
        for (int i = 0; i < rows; i++) {
            table.put(Puri.parse("music:tracks:" + i), Rows.active("br-1"));
            if (i == rows / 2 - 1) {
                table.setNextOffset(1, 0);
            }
            table.setNextOffset(i < rows / 2 ? 0 : 1, (long) (i % (rows / 2) + 1) * offsetsARow);
            least = i > 20_000 ? Math.min(least, table.stats().load()) : least;
        }

        // The table grew early to several times its size, and needs this size in the end.
        assertThat(least).isLessThan(0.25);
        assertThat(table.stats().load()).isBetween(0.45, 0.8);
    }

    /** A removal while growth is expected must not rebuild a segment, but the segment must shrink afterwards. */
    @Test
    void tableWithExpectedGrowthShrinksOnlyAfterTheRestore() {
        table.setNextOffset(0, 0);
        table.setOffsetsToRead(1_000_000_000);
        for (int i = 0; i < 300_000; i++) {
            table.put(Puri.parse("music:tracks:" + i), Rows.active("br-1"));
            table.setNextOffset(0, i + 1);
        }
        double load = table.stats().load();
        for (int i = 0; i < 1_000; i++) {
            table.remove(Puri.parse("music:tracks:" + i));
        }
        assertThat(table.stats().load()).isBetween(0.98 * load, load);

        table.setOffsetsToRead(0);
        for (int i = 1_000; i < 290_000; i++) {
            table.remove(Puri.parse("music:tracks:" + i));
        }
        table.put(Puri.parse("music:tracks:1"), Rows.active("br-1"));
        assertThat(table.stats().bytesInUse()).isLessThan(300_000 * 16L);
    }
}
