package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Base of tests of snapshots: a folder for the file, and tables whose rows are known. */
@Timeout(120)
abstract class SnapshotFile {
    static final Uuid TOPIC = new Uuid(1, 2);
    static final Instant NOW = Instant.parse("2026-03-08T00:00:00Z");
    static final SnapshotOrigin ORIGIN = new SnapshotOrigin(TOPIC, 2, NOW);

    @TempDir
    Path folder;

    final long seed = new Random().nextLong();
    final Random random = new Random(seed);

    Path file() {
        return folder.resolve("identities.snapshot");
    }

    static SnapshotRequirements terms() {
        return terms(TOPIC, 2, 0, 1_000_000_000, NOW);
    }

    static SnapshotRequirements terms(Uuid topic, int partitions, long begin, long end, Instant now) {
        Map<Integer, Long> begins = new TreeMap<>();
        Map<Integer, Long> ends = new TreeMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            begins.put(partition, begin);
            ends.put(partition, end);
        }
        return new SnapshotRequirements(topic, begins, ends, Duration.ofDays(7), now);
    }

    static Puri numbered(int number) {
        return Puri.parse("music:tracks:" + number);
    }

    static Handle handleOf(int number) {
        StringBuilder text = new StringBuilder();
        for (int shift = 0; shift < 75; shift += 5) {
            text.append(Handle.ALPHABET.charAt(shift < 30 ? number >>> shift & 31 : 7));
        }
        return Handle.of(new Prefix("trk"), text.toString());
    }

    byte[] written(int rows) throws IOException {
        PackedTable table = new PackedTable();
        filled(table, rows);
        table.writeSnapshot(file(), ORIGIN, NOW);
        return Files.readAllBytes(file());
    }

    void assertRefused(byte[] bytes) throws IOException {
        Files.write(file(), bytes);
        assertThatThrownBy(() -> PackedTable.open(file(), terms()))
                .as("seed %d", seed)
                .isInstanceOf(SnapshotRefusedException.class);
    }

    Map<Puri, Row> filled(PackedTable table, int count) {
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

    void assertSame(PackedTable table, Map<Puri, Row> model) {
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
