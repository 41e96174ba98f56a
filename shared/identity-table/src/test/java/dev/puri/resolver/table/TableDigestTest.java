package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The digests of a table against digests that are computed from a model of its rows. */
final class TableDigestTest extends DigestedTable {
    @Test
    void digestsEqualThoseOfTheModel() {
        List<Puri> puris = puris(700);
        List<Handle> handles = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            handles.add(anyRows.handle());
        }
        for (int round = 0; round < 200; round++) {
            for (int i = random.nextInt(60); i >= 0; i--) {
                Puri puri = puris.get(random.nextInt(puris.size()));
                // Few handles, so that they move from one pURI to another.
                change(puri, random.nextBoolean() ? null : handles.get(random.nextInt(handles.size())));
            }
            write();
            assertDigests(table, model);
        }
        assertAllPartsAgree();
    }

    private List<Puri> puris(int count) {
        List<Puri> puris = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            puris.add(random.nextBoolean() ? Puri.of("n", "c", Integer.toString(i)) : anyRows.puri());
        }
        return puris;
    }

    @Test
    void aFlippedBitNamesThePartition() {
        fill(2_000);
        Puri damaged = model.keySet().iterator().next();

        TableFaults.flipBit(table, damaged);

        assertThat(differingPartitions(table)).containsExactly(partition(damaged));
    }

    @Test
    void aFlippedBitIsFoundInATableFromASnapshotToo() throws Exception {
        fill(2_000);
        Puri damaged = model.keySet().iterator().next();
        TableFaults.flipBit(table, damaged);

        table.writeSnapshot(file(), new SnapshotOrigin(TOPIC, PARTITIONS, NOW), NOW);

        assertThat(differingPartitions(PackedTable.open(file(), requirements())))
                .containsExactly(partition(damaged));
    }

    @Test
    void aRowThatCannotBeDecodedDoesNotReplaceTheSnapshot() throws Exception {
        fill(100);
        table.writeSnapshot(file(), new SnapshotOrigin(TOPIC, PARTITIONS, NOW), NOW);
        TableFaults.flipBitOfKind(table, model.keySet().iterator().next());

        assertThatThrownBy(() -> table.writeSnapshot(file(), new SnapshotOrigin(TOPIC, PARTITIONS, NOW), NOW))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is damaged in memory");

        assertDigests(PackedTable.open(file(), requirements()), model);
    }

    private static List<Integer> differingPartitions(PackedTable table) {
        List<Integer> differing = new ArrayList<>();
        for (int part = 0; part < table.partCount(); part++) {
            differing.addAll(table.checkRows(part, PARTITIONS).differingPartitions());
        }
        return differing;
    }

    @Test
    void aSnapshotHasTheDigestsOfItsRows() throws Exception {
        fill(5_000);
        table.writeSnapshot(file(), new SnapshotOrigin(TOPIC, PARTITIONS, NOW), NOW);

        PackedTable opened = PackedTable.open(file(), requirements());

        assertThat(opened.isFromSnapshot()).isTrue();
        assertDigests(opened, model);
    }
}
