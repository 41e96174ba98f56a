package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.DigestCheck.State;
import dev.puri.projection.FailureState;
import dev.puri.resolver.Rows;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.resolver.table.TableFaults;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.time.InstantSource;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class TableScrubTest {
    private static final int PARTITIONS = 3;
    private static final int ROWS = 400;

    private final PackedTable table = new PackedTable();
    private final DigestCheck digests = new DigestCheck("topic", "rebuild it", Map.of(), InstantSource.system());
    private final FailureState failure = new FailureState();
    private final TableScrub scrub = new TableScrub(table, PARTITIONS, digests, 1_000_000_000, failure);

    private static Puri puri(int number) {
        return Puri.parse("soundcloud:tracks:" + number);
    }

    private static Handle handle(int number) {
        return new Handle("trk_4k7vx9tz2nqr" + (111 + number % 9 + 10 * (number / 9 % 9) + 100 * (number / 81)));
    }

    private static int partition(Puri puri) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS;
    }

    private void fill() {
        RowBatch batch = table.newBatch();
        for (int i = 0; i < ROWS; i++) {
            batch.put(partition(puri(i)), puri(i), Rows.active("br-1", handle(i).text()));
        }
        table.write(batch);
        batch.clear();
    }

    @Test
    void aPassOverAnUndamagedTableFindsNothing() {
        fill();

        scrub.pass();

        assertThat(digests.isDiffering()).isFalse();
        assertThat(digests.state(0)).isEqualTo(State.UNCHECKED);
    }

    @Test
    void aPassNamesThePartitionOfADamagedRow() {
        fill();
        TableFaults.flipBit(table, puri(7));

        scrub.pass();

        for (int partition = 0; partition < PARTITIONS; partition++) {
            assertThat(digests.state(partition))
                    .isEqualTo(partition == partition(puri(7)) ? State.DIFFERS : State.UNCHECKED);
        }
        assertThat(digests.reason()).contains("the stored rows of partition " + partition(puri(7)) + " of topic");
    }

    @Test
    void aPassFindsADamagedEntryOfAHandle() {
        fill();
        TableFaults.flipBitOfEntry(table, handle(7));

        scrub.pass();

        assertThat(digests.state(partition(puri(7)))).isEqualTo(State.DIFFERS);
        assertThat(digests.reason()).contains("of the index of handles", "partition " + partition(puri(7)));
    }

    @Test
    void aPassFindsAnEntryOfAHandleThatPointsToAnotherRow() {
        fill();
        TableFaults.pointTo(table, handle(7), puri(8));

        scrub.pass();

        assertThat(digests.reason()).contains("of the index of handles", "partition " + partition(puri(8)));
    }

    @Test
    void aPassFindsAnEntryOfAHandleThatPointsToNoRow() {
        fill();
        TableFaults.pointToNothing(table, handle(7));

        scrub.pass();

        assertThat(digests.reason()).contains("of the index of handles");
    }

    @Test
    void aLaterPassThatFindsNothingEndsTheAlarm() {
        fill();
        TableFaults.flipBit(table, puri(7));
        scrub.pass();
        TableFaults.flipBit(table, puri(7));

        scrub.pass();

        assertThat(digests.isDiffering()).isFalse();
    }

    @Test
    void aPassThatFailsIsReported() {
        fill();
        TableFaults.flipBit(table, puri(7));
        // No row has a partition, so that the report of the damage fails.
        try (TableScrub failing = new TableScrub(table, 0, digests, 1_000_000_000, failure)) {
            failing.start();

            await().until(() -> failure.reason() != null);
        }
    }

    @Test
    void aClosedCheckEnds() {
        fill();
        scrub.start();

        scrub.close();
    }
}
