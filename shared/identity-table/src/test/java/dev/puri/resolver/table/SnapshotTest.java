package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.resolver.Rows;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class SnapshotTest {
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final Instant NOW = Instant.parse("2026-03-08T00:00:00Z");
    private static final SnapshotOrigin ORIGIN = new SnapshotOrigin(TOPIC, 2, NOW);

    @TempDir
    private Path folder;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    private Path file() {
        return folder.resolve("identities.snapshot");
    }

    private static SnapshotRequirements terms() {
        return terms(TOPIC, 2, 0, 1_000_000_000, NOW);
    }

    private static SnapshotRequirements terms(Uuid topic, int partitions, long begin, long end, Instant now) {
        Map<Integer, Long> begins = new TreeMap<>();
        Map<Integer, Long> ends = new TreeMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            begins.put(partition, begin);
            ends.put(partition, end);
        }
        return new SnapshotRequirements(topic, begins, ends, Duration.ofDays(7), now);
    }

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

    private static Puri numbered(int number) {
        return Puri.parse("music:tracks:" + number);
    }

    private static Handle handleOf(int number) {
        StringBuilder text = new StringBuilder();
        for (int shift = 0; shift < 75; shift += 5) {
            text.append(Handle.ALPHABET.charAt(shift < 30 ? number >>> shift & 31 : 7));
        }
        return Handle.of(new Prefix("trk"), text.toString());
    }

    /** The dump of a name that is deleted and created again while its segment is read. */
    @Test
    void nameThatASnapshotContainsTwiceBecomesOneRow() throws Exception {
        Slab slab = new Slab();
        Index names = new Index(slab);
        Dictionaries dictionaries = new Dictionaries();
        RowBatch batch = new RowBatch(dictionaries, new RowCodec(dictionaries), seed);
        batch.put(numbered(1), Rows.active("br-1", handleOf(1).text()));
        batch.put(numbered(2), Rows.active("br-2", handleOf(2).text()));
        batch.put(numbered(1), Rows.active("br-3", handleOf(3).text()));
        for (int i = 0; i < batch.count(); i++) {
            int length = batch.begins[i + 1] - batch.begins[i];
            long address = slab.allocateRecord(length / Slab.UNIT_BYTES);
            slab.copy(batch.records, batch.begins[i], address, length);
            names.insert(batch.puriHashes[i], address);
        }
        new SnapshotWriter(names, dictionaries, seed).write(file(), ORIGIN, Map.of(), NOW);

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
    void refusesASnapshotWithAFlippedBit() throws Exception {
        byte[] whole = written(100);
        for (int i = 0; i < 2_000; i++) {
            byte[] flipped = whole.clone();
            int at = i < 200 ? i : i < 400 ? whole.length - 1 - (i - 200) : random.nextInt(whole.length);
            flipped[at] ^= (byte) (1 << random.nextInt(8));
            assertRefused(flipped);
        }
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

    private byte[] written(int rows) throws IOException {
        PackedTable table = new PackedTable();
        filled(table, rows);
        table.writeSnapshot(file(), ORIGIN, NOW);
        return Files.readAllBytes(file());
    }

    private void assertRefused(byte[] bytes) throws IOException {
        Files.write(file(), bytes);
        assertThatThrownBy(() -> PackedTable.open(file(), terms()))
                .as("seed %d", seed)
                .isInstanceOf(SnapshotRefusedException.class);
    }

    private void assertRefused(SnapshotRequirements terms, String reason) {
        assertThatThrownBy(() -> PackedTable.open(file(), terms))
                .isInstanceOf(SnapshotRefusedException.class)
                .hasMessageContaining(reason);
    }

    private Map<Puri, Row> filled(PackedTable table, int count) {
        AnyRows rows = new AnyRows(random);
        Map<Puri, Row> model = new HashMap<>();
        for (int i = 0; i < count; i++) {
            Puri puri = rows.puri();
            Row row = rows.row(random.nextInt(4) == 0 ? null : rows.handle());
            table.put(puri, row);
            model.put(puri, row);
        }
        return model;
    }

    private void assertSame(PackedTable table, Map<Puri, Row> model) {
        Map<Puri, Row> scanned = new HashMap<>();
        table.scan(identity -> scanned.put(identity.puri(), identity.row()));
        assertThat(scanned).as("seed %d", seed).isEqualTo(model);
        assertThat(table.rows()).as("seed %d", seed).isEqualTo(model.size());
        List<Handle> handles = new ArrayList<>();
        model.forEach((puri, row) -> {
            assertThat(table.byPuri(puri)).as("seed %d", seed).isEqualTo(new Identity(puri, row));
            if (row.handle() != null) {
                handles.add(row.handle());
                assertThat(table.byHandle(row.handle())).as("seed %d", seed).isEqualTo(new Identity(puri, row));
            }
        });
        assertThat(table.stats().handles()).as("seed %d", seed).isEqualTo(handles.size());
    }
}
