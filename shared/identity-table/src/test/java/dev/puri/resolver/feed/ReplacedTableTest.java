package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.table.PackedTable;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class ReplacedTableTest {
    private final AtomicInteger runs = new AtomicInteger();
    private final ReplacedTable replaced = new ReplacedTable(runs::incrementAndGet);

    @Test
    void runsTheCollectorAgainUntilTheLimitWhileTheTableIsRead() {
        PackedTable table = new PackedTable();
        replaced.replace(table);
        replaced.collectIfInMemory();
        replaced.collectIfInMemory();
        assertThat(runs).hasValue(2);
        for (int i = 0; i < 100; i++) {
            replaced.collectIfInMemory();
        }
        assertThat(runs).hasValue(ReplacedTable.MAX_RUNS);
        Reference.reachabilityFence(table);
        table.release();
    }

    @Test
    void firstTableReplacesNoTable() {
        replaced.replace(null);
        replaced.collectIfInMemory();
        assertThat(runs).hasValue(0);
    }
}
