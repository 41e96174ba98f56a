package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The digests of a table against digests that are computed from a model of its rows. */
@Timeout(120)
final class TableDigestTest {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final int PARTITIONS = 5;
    private static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");
    private static final Uuid TOPIC = new Uuid(1, 2);

    @TempDir
    private Path folder;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final AnyRows anyRows = new AnyRows(random);
    private final PackedTable table = new PackedTable();
    private final RowBatch batch = table.newBatch();
    private final Map<Puri, Row> model = new HashMap<>();

    private static int partition(Puri puri) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS;
    }

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

    private void change(Puri puri, @Nullable Handle handle) {
        if (random.nextInt(5) == 0) {
            model.remove(puri);
            batch.remove(partition(puri), puri);
            return;
        }
        Row row = anyRows.row(handle);
        model.put(puri, row);
        byte[] token = row.position().toString().getBytes(StandardCharsets.US_ASCII);
        byte[] value = WRITER.encode(7, RowAvro.toAvro(row));
        if (!batch.tryPut(partition(puri), puri.toBytes(), value, token)) {
            batch.put(partition(puri), puri, row);
        }
    }

    private void write() {
        table.write(batch);
        batch.clear();
    }

    private void fill(int rows) {
        for (int i = 0; i < rows; i++) {
            change(Puri.of("n", "c", Integer.toString(i)), random.nextBoolean() ? null : anyRows.handle());
            if (batch.isFull()) {
                write();
            }
        }
        write();
    }

    private void assertDigests(PackedTable actual, Map<Puri, Row> expectedRows) {
        PartitionDigest[] expected = new PartitionDigest[PARTITIONS];
        Arrays.fill(expected, PartitionDigest.EMPTY);
        expectedRows.forEach(
                (puri, row) -> expected[partition(puri)] = expected[partition(puri)].plus(RowHash.of(puri, row)));
        for (int partition = 0; partition < PARTITIONS; partition++) {
            assertThat(actual.digest(partition)).as("seed %s", seed).isEqualTo(expected[partition]);
        }
    }

    private void assertAllPartsAgree() {
        int rows = 0;
        for (int part = 0; part < table.partCount(); part++) {
            PartCheck check = table.checkRows(part, PARTITIONS);
            assertThat(check.isComplete()).isTrue();
            assertThat(check.differingPartitions()).as("seed %s", seed).isEmpty();
            rows += check.entries();
        }
        assertThat(rows).isEqualTo((int) table.rows());
        int handles = 0;
        for (int part = 0; part < table.partCount(); part++) {
            PartCheck check = table.checkHandles(part, PARTITIONS);
            assertThat(check.differingPartitions()).as("seed %s", seed).isEmpty();
            handles += check.entries();
        }
        assertThat(handles).isEqualTo((int) table.stats().handles());
    }

    @Test
    void aFlippedBitNamesThePartition() {
        fill(2_000);
        Puri damaged = model.keySet().iterator().next();

        TableFaults.flipBit(table, damaged);

        List<Integer> differing = new ArrayList<>();
        for (int part = 0; part < table.partCount(); part++) {
            differing.addAll(table.checkRows(part, PARTITIONS).differingPartitions());
        }
        assertThat(differing).containsExactly(partition(damaged));
    }

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
    void aSnapshotHasTheDigestsOfItsRows() throws Exception {
        fill(5_000);
        table.writeSnapshot(file(), new SnapshotOrigin(TOPIC, PARTITIONS, NOW), NOW);

        PackedTable opened = PackedTable.open(file(), requirements());

        assertThat(opened.isFromSnapshot()).isTrue();
        assertDigests(opened, model);
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

    private Path file() {
        return folder.resolve("identities.snapshot");
    }

    private static SnapshotRequirements requirements() {
        Map<Integer, Long> offsets = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            offsets.put(partition, 0L);
        }
        return new SnapshotRequirements(TOPIC, offsets, offsets, Duration.ofDays(7), NOW);
    }
}
