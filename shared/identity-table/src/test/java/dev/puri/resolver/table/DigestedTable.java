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
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Base of tests of digests: a table, and a model of its rows. */
@Timeout(120)
abstract class DigestedTable {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    static final int PARTITIONS = 5;
    static final Instant NOW = Instant.parse("2026-11-24T10:00:00Z");
    static final Uuid TOPIC = new Uuid(1, 2);

    @TempDir
    private Path folder;

    final long seed = new Random().nextLong();
    final Random random = new Random(seed);
    final AnyRows anyRows = new AnyRows(random);
    final PackedTable table = new PackedTable();
    final RowBatch batch = table.newBatch();
    final Map<Puri, Row> model = new HashMap<>();

    static int partition(Puri puri) {
        return Utils.toPositive(Utils.murmur2(puri.toBytes())) % PARTITIONS;
    }

    void change(Puri puri, @Nullable Handle handle) {
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

    void write() {
        table.write(batch);
        batch.clear();
    }

    void fill(int rows) {
        for (int i = 0; i < rows; i++) {
            change(Puri.of("n", "c", Integer.toString(i)), random.nextBoolean() ? null : anyRows.handle());
            if (batch.isFull()) {
                write();
            }
        }
        write();
    }

    void assertDigests(PackedTable actual, Map<Puri, Row> expectedRows) {
        PartitionDigest[] expected = new PartitionDigest[PARTITIONS];
        Arrays.fill(expected, PartitionDigest.EMPTY);
        expectedRows.forEach(
                (puri, row) -> expected[partition(puri)] = expected[partition(puri)].plus(RowHash.of(puri, row)));
        for (int partition = 0; partition < PARTITIONS; partition++) {
            assertThat(actual.digest(partition)).as("seed %s", seed).isEqualTo(expected[partition]);
        }
    }

    void assertAllPartsAgree() {
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

    Path file() {
        return folder.resolve("identities.snapshot");
    }

    static SnapshotRequirements requirements() {
        Map<Integer, Long> offsets = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            offsets.put(partition, 0L);
        }
        return new SnapshotRequirements(TOPIC, offsets, offsets, Duration.ofDays(7), NOW);
    }
}
