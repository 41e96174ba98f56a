package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.resolver.export.Export;
import dev.puri.resolver.export.ExportFormat;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.table.AnyRows;
import dev.puri.resolver.table.Identity;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificDatumReader;
import org.junit.jupiter.api.Test;

final class ExportTest extends ExportedTable {
    private static byte[] all(Export export) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] piece = export.next(); piece != null; piece = export.next()) {
            all.writeBytes(piece);
        }
        return all.toByteArray();
    }

    private Map<Puri, Row> anyRows(int count) {
        AnyRows any = new AnyRows(random);
        Map<Puri, Row> rows = new HashMap<>();
        for (int i = 0; i < count; i++) {
            Identity identity = any.identity();
            rows.put(identity.puri(), identity.row());
            table.put(identity.puri(), identity.row());
        }
        return rows;
    }

    @Test
    void linesAreThoseOfChangesBetweenTheCursorAndTheirDigest() throws Exception {
        Map<Puri, Row> rows = anyRows(5_000);
        ring.changed(0, 41, LiveRows.track(1), null);
        Export export = export(ExportFormat.NDJSON);

        String text = new String(all(export), StandardCharsets.UTF_8);

        List<String> lines = text.lines().toList();
        assertThat(lines.getFirst()).isEqualTo(BEGIN + export.cursor() + "\"}");
        assertThat(export.cursor().nextOffsets()).containsExactly(42);
        assertThat(lines.subList(1, lines.size() - 1))
                .as("seed %d", seed)
                .containsExactlyInAnyOrderElementsOf(rows.entrySet().stream()
                        .map(each -> ChangeJson.changed(each.getKey(), each.getValue()))
                        .toList());
        byte[] before =
                text.substring(0, text.length() - lines.getLast().length() - 1).getBytes(StandardCharsets.UTF_8);
        assertThat(lines.getLast())
                .isEqualTo("{\"rows\":" + rows.size() + ",\"sha256\":\""
                        + HexFormat.of()
                                .formatHex(MessageDigest.getInstance("SHA-256").digest(before)) + "\"}");
    }

    @Test
    void anAvroFileHasTheSameRowsItsCursorAndTheirNumber() throws Exception {
        Map<Puri, Row> rows = anyRows(5_000);
        Export export = export(ExportFormat.AVRO);
        Map<Puri, Row> read = new HashMap<>();
        GenericRecord last = null;

        try (DataFileStream<GenericRecord> file =
                new DataFileStream<>(new ByteArrayInputStream(all(export)), new SpecificDatumReader<>())) {
            assertThat(file.getMetaString("puri.changes-from"))
                    .isEqualTo(export.cursor().toString());
            assertThat(file.getMetaString("avro.codec")).isEqualTo("deflate");
            while (file.hasNext()) {
                last = file.next();
                if (last.get("row") instanceof IdentityRow row) {
                    assertThat(last.get("rows")).isNull();
                    read.put(Puri.parse(last.get("puri").toString()), RowAvro.fromAvro(row));
                }
            }
        }

        assertThat(read).as("seed %d", seed).isEqualTo(rows);
        GenericRecord end = Objects.requireNonNull(last);
        assertThat(end.get("puri")).hasToString("");
        assertThat(end.get("row")).isNull();
        assertThat(end.get("rows")).isEqualTo((long) rows.size());
    }

    @Test
    void exportsOnlyRowsOfTheRequestedCollections() {
        table.put(Puri.parse("music:tracks:1"), LiveRows.row("br-1", 1));
        table.put(Puri.parse("music:users:1"), LiveRows.row("br-1", 2));
        table.put(Puri.parse("films:tracks:1"), LiveRows.row("br-1", 3));

        assertThat(puris(export(ExportFormat.NDJSON, "music:tracks", "music:users")))
                .containsExactlyInAnyOrder("music:tracks:1", "music:users:1");
        assertThat(puris(export(ExportFormat.NDJSON, "music:lists"))).isEmpty();
    }

    /** Other downloads need the thread on which it is produced. */
    @Test
    void aPieceHasFewPartsEvenWithoutMatchingRows() {
        anyRows(100);
        AtomicInteger parts = new AtomicInteger();
        Export export = new Export(
                new LiveTable<>(table, ring),
                ExportFormat.NDJSON,
                Set.of("music:lists"),
                () -> {
                    parts.incrementAndGet();
                    return true;
                },
                ended -> {});
        int before = 0;
        for (byte[] piece = export.next(); piece != null; piece = export.next()) {
            assertThat(parts.get() - before).isLessThanOrEqualTo(16);
            before = parts.get();
        }
        assertThat(before).isEqualTo(table.partCount());
    }

    private static List<String> puris(Export export) {
        return new String(all(export), StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("{\"puri\":"))
                .map(ExportedTable::puri)
                .toList();
    }

    @Test
    void anExportIsAbortedWhenItsTableIsReplaced() {
        anyRows(5_000);
        Export export =
                new Export(new LiveTable<>(table, ring), ExportFormat.NDJSON, Set.of(), () -> false, ended -> {});

        assertThatThrownBy(export::next).isInstanceOf(CancellationException.class);
    }
}
