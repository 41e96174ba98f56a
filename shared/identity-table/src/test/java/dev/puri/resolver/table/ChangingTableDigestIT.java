package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The digests of a table that is written meanwhile. */
final class ChangingTableDigestIT extends DigestedTable {
    @Test
    void checksFindNothingWhileTheTableIsWritten() throws Exception {
        fill(3_000);
        AtomicBoolean isDone = new AtomicBoolean();
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            while (!isDone.get()) {
                fill(random.nextInt(4_000));
            }
        });
        int complete = 0;
        for (int pass = 0; pass < 30; pass++) {
            for (int part = 0; part < table.partCount(); part++) {
                PartCheck check = table.checkRows(part, PARTITIONS);
                assertThat(check.differingPartitions()).as("seed %s", seed).isEmpty();
                assertThat(table.checkHandles(part, PARTITIONS).differingPartitions())
                        .as("seed %s", seed)
                        .isEmpty();
                complete += check.isComplete() ? 1 : 0;
            }
        }
        isDone.set(true);
        writing.get(30, TimeUnit.SECONDS);

        assertThat(complete).isPositive();
        assertAllPartsAgree();
    }

    @Test
    void aSnapshotOfAChangingTableHasTheDigestsOfItsRows() throws Exception {
        fill(3_000);
        AtomicBoolean isDone = new AtomicBoolean();
        CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
            while (!isDone.get()) {
                fill(random.nextInt(4_000));
            }
        });
        for (int i = 0; i < 5; i++) {
            table.writeSnapshot(file(), new SnapshotOrigin(TOPIC, PARTITIONS, NOW), NOW);
            PackedTable opened = PackedTable.open(file(), requirements());
            Map<Puri, Row> rows = new HashMap<>();
            opened.scan(identity -> rows.put(identity.puri(), identity.row()));
            assertDigests(opened, rows);
        }
        isDone.set(true);
        writing.get(30, TimeUnit.SECONDS);
    }
}
