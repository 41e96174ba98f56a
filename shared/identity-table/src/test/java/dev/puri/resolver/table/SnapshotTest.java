package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.resolver.Rows;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

final class SnapshotTest extends SnapshotFile {
    @Test
    void opensATableAsWritten() throws Exception {
        PackedTable table = new PackedTable();
        Map<Puri, Row> model = filled(table, 20_000);
        table.setNextOffset(0, 700);
        table.writeSnapshot(file(), ORIGIN, NOW);

        PackedTable opened = PackedTable.open(file(), terms());

        assertSame(opened, model);
        TableStats stats = opened.stats();
        assertThat(stats.byOwner()).isEqualTo(table.stats().byOwner());
        assertThat(stats.byShard()).isEqualTo(table.stats().byShard());
        assertThat(stats.byCollection()).isEqualTo(table.stats().byCollection());
        assertThat(stats.byStatus()).isEqualTo(table.stats().byStatus());
        assertThat(opened.nextOffset(0)).isEqualTo(700);
        assertThat(opened.committedOffset(new TopicPartition("t", 0))).isEqualTo(700);
        assertThat(opened.committedOffset(new TopicPartition("t", 1))).isNull();
    }

    /** The dump of a name that is deleted and created again while its segment is read. */
    @Test
    void nameThatASnapshotContainsTwiceBecomesOneRow() throws Exception {
        TableMemory memory = TableMemory.withSeed(seed);
        Slab slab = memory.slab();
        RowBatch batch = new RowBatch(memory.dictionaries(), new RowCodec(memory.dictionaries()), seed);
        PartDigests changing = new PartDigests();
        batch.put(numbered(1), Rows.active("br-1", handleOf(1).text()));
        batch.put(numbered(2), Rows.active("br-2", handleOf(2).text()));
        batch.put(numbered(1), Rows.active("br-3", handleOf(3).text()));
        for (int i = 0; i < batch.count(); i++) {
            int length = batch.begins[i + 1] - batch.begins[i];
            long address = slab.allocateRecord(length / Slab.UNIT_BYTES);
            slab.copy(batch.records, batch.begins[i], address, length);
            memory.puris().insert(batch.puriHashes[i], address);
        }
        for (int part = 0; part < PartDigests.PARTS; part++) {
            changing.beginChange(part);
        }
        new SnapshotWriter(memory, changing).write(file(), ORIGIN, Map.of(), NOW);

        PackedTable opened = PackedTable.open(file(), terms());

        assertThat(opened.rows()).isEqualTo(2);
        Identity one = opened.byPuri(numbered(1));
        assertThat(one).isNotNull();
        int other = one.row().shard().text().equals("br-1") ? 3 : 1;
        assertThat(opened.byHandle(handleOf(4 - other))).isEqualTo(one);
        assertThat(opened.byHandle(handleOf(other))).isNull();
        assertThat(opened.byHandle(handleOf(2))).isEqualTo(opened.byPuri(numbered(2)));
        assertThat(opened.stats().byShard().values()).containsExactlyInAnyOrder(1L, 1L);
        assertThat(opened.stats().handles()).isEqualTo(2);
        opened.put(numbered(2), Rows.active("br-2", handleOf(2).text()));
        opened.removeUnusedWords();
        assertThat(opened.memory().dictionaries().shards.size()).isEqualTo(2);
        for (int part = 0; part < opened.partCount(); part++) {
            assertThat(opened.checkRows(part, ORIGIN.partitions()).differingPartitions())
                    .isEmpty();
        }
    }

    @Test
    void openedTableAcceptsChanges() throws Exception {
        PackedTable table = new PackedTable();
        Map<Puri, Row> model = filled(table, 3_000);
        for (int round = 0; round < 3; round++) {
            table.writeSnapshot(file(), ORIGIN, NOW);
            table = PackedTable.open(file(), terms());
            for (Puri puri : List.copyOf(model.keySet())) {
                if (random.nextInt(3) == 0) {
                    table.remove(puri);
                    model.remove(puri);
                }
            }
            model.putAll(filled(table, 3_000));
            assertSame(table, model);
        }
        for (Puri puri : model.keySet()) {
            table.remove(puri);
        }
        assertThat(table.rows()).isZero();
        assertThat(table.stats().handles()).isZero();
        assertThat(table.stats().byShard()).isEmpty();
    }

    @Test
    void opensAnEmptyTable() throws Exception {
        new PackedTable().writeSnapshot(file(), ORIGIN, NOW);

        assertThat(PackedTable.open(file(), terms()).rows()).isZero();
    }

    @Test
    void refusesATruncatedSnapshot() throws Exception {
        byte[] whole = written(500);
        for (int i = 0; i < 200; i++) {
            assertRefused(Arrays.copyOf(whole, random.nextInt(whole.length)));
        }
        assertRefused(new byte[0]);
        assertRefused(Arrays.copyOf(whole, whole.length - 1));
        assertRefused(Arrays.copyOf(whole, whole.length + 1));
    }

    @Test
    void refusesFilesThatAreNoSnapshots() throws Exception {
        assertRefused("not a snapshot, but long enough to be looked at as if it were one, which it is not"
                .getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void refusesASnapshotThatDoesNotMatchTheTopic() throws Exception {
        PackedTable table = new PackedTable();
        table.put(Puri.of("n", "c", "1"), SomeRows.active("br-1", null));
        table.setNextOffset(1, 100);
        table.writeSnapshot(file(), ORIGIN, NOW);

        assertRefused(terms(new Uuid(1, 3), 2, 0, 100, NOW), "but the topic now has the id");
        assertRefused(terms(TOPIC, 3, 0, 100, NOW), "the snapshot is of 2 partitions, but the topic has 3");
        assertRefused(
                terms(TOPIC, 2, 0, 99, NOW),
                "ends at offset 100 of partition 1, but the partition has offsets 0 to 99");
        assertRefused(terms(TOPIC, 2, 101, 200, NOW), "offsets 101 to 200");
        assertRefused(
                terms(TOPIC, 2, 0, 100, NOW.plus(Duration.ofDays(6).plusSeconds(1))), "keeps tombstones for only");
        assertRefused(terms(TOPIC, 2, 0, 100, NOW.minus(Duration.ofDays(1).plusSeconds(1))), "is in the future");
        assertThat(PackedTable.open(file(), terms(TOPIC, 2, 100, 100, NOW.plus(Duration.ofDays(6))))
                        .rows())
                .isEqualTo(1);
    }

    @Test
    void onlyTheOwnerMayReadTheSnapshotAndTemporaryFilesAreDeleted() throws Exception {
        Files.writeString(folder.resolve("identities.snapshot.writing-1"), "what a killed process left");
        written(10);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                .isEqualTo("rw-------");
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file());
        }
    }

    private void assertRefused(SnapshotRequirements terms, String reason) {
        assertThatThrownBy(() -> PackedTable.open(file(), terms))
                .isInstanceOf(SnapshotRefusedException.class)
                .hasMessageContaining(reason);
    }
}
