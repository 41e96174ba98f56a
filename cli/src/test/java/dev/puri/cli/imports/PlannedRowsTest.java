package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PlannedRowsTest {
    private static final UUID ID = UUID.fromString("c2b7e705-edfd-80c6-b1e5-1dd8bb5734a6");

    private static final String TIME = "2026-11-24T10:00:00Z";

    /** Of exported rows, and of another row. */
    private static final List<String> STATUSES = List.of("active", "merged", "deleted", "");

    @TempDir
    private Path folder;

    @Test
    void readsFromTheEndOfAnyBatch() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<ImportRow> rows = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            rows.add(row(i, random));
        }
        Path file = Files.write(folder.resolve("rows"), ImportRow.toLines(rows));
        List<ImportRow> read = new ArrayList<>();
        long bytes = 0;
        while (read.size() < rows.size()) {
            try (PlannedRows reader = new PlannedRows(file, bytes)) {
                for (int i = random.nextInt(3); i >= 0; i--) {
                    PlannedRows.Lines lines = reader.next(1 + random.nextInt(300));
                    read.addAll(lines.rows());
                    bytes = lines.endBytes();
                }
            }
        }
        assertThat(read).as("seed " + seed).isEqualTo(rows);
        assertThat(bytes).isEqualTo(Files.size(file));
    }

    @Test
    void aLineWithoutEndIsNotARow() throws Exception {
        byte[] line = ImportRow.toLines(List.of(row(1, new Random(1))));
        Path file = Files.write(
                folder.resolve("rows"),
                (new String(line, StandardCharsets.UTF_8) + "{\"input\":").getBytes(StandardCharsets.UTF_8));
        try (PlannedRows reader = new PlannedRows(file, 0)) {
            PlannedRows.Lines lines = reader.next(10);
            assertThat(lines.rowCount()).isOne();
            assertThat(lines.endBytes()).isEqualTo(line.length);
            assertThat(lines.rows()).hasSize(1);
            assertThat(reader.next(10).rowCount()).isZero();
        }
    }

    @Test
    void aFileThatBecameShorterIsNamed() throws Exception {
        Path file = Files.writeString(folder.resolve("rows"), "{}\n");
        assertThatThrownBy(() -> new PlannedRows(file, 4))
                .isInstanceOf(ImportException.class)
                .hasMessageContaining(file + " is shorter");
    }

    @Test
    void aDamagedLineIsAnError() throws Exception {
        for (String damaged : List.of(
                "{\"input\":0}",
                "{\"puri\":7}",
                "{\"puri\":\"a:b\"}",
                "{\"uuid\":\"1\"}",
                "{\"owner\":\"a b\"}",
                "{\"handle\":\"trk_1\"}",
                "{\"createdAt\":\"yesterday\"}",
                "{\"attributes\":{\"title\":7}}",
                "{\"attributes\":{\"title\":\"a\",\"title\":\"b\"}}",
                "[]",
                "nothing")) {
            Path file = Files.writeString(folder.resolve("rows"), damaged + "\n");
            try (PlannedRows reader = new PlannedRows(file, 0)) {
                PlannedRows.Lines lines = reader.next(10);
                assertThatThrownBy(lines::rows).as(damaged).hasMessageContaining("plan again");
            }
        }
    }

    private static ImportRow row(int number, Random random) {
        ImportRow row = ImportRow.of(
                number % 3,
                number,
                Puri.of("a", "b", "\u00e9 " + "x".repeat(random.nextInt(100)) + number),
                ID,
                new Owner("catalog"),
                new Shard("br-1"),
                random.nextBoolean() ? null : new Handle("trk_111111111111111"),
                random.nextBoolean() ? Map.of() : Map.of("title", "\u00c1guas \"de\"\nMar\u00e7o"));
        String status = STATUSES.get(random.nextInt(STATUSES.size()));
        ImportRow ended = status.isEmpty()
                ? row
                : row.withState(
                        Map.of("status", status, "createdAt", TIME, "changedAt", TIME, "mergedInto", "a:b:survivor"));
        return random.nextBoolean() ? ended : ended.asExisting();
    }
}
