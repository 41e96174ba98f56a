package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.resolver.export.Export;
import dev.puri.resolver.export.ExportFormat;
import dev.puri.resolver.feed.TableKeeper.LiveTable;
import dev.puri.resolver.table.AnyRows;
import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class ExportTest {
    private static final String BEGIN = "{\"changesFrom\":\"";

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final PackedTable table = new PackedTable();
    private final ChangeRing ring = new ChangeRing(
            Uuid.randomUuid(), new long[] {0}, Instant.ofEpochSecond(1_000), 1_000, LiveRows.VALUES, () -> {});

    private Export export(ExportFormat format, String... collections) {
        return new Export(new LiveTable<>(table, ring), format, Set.of(collections), () -> true, ended -> {});
    }

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
                .map(ExportTest::puri)
                .toList();
    }

    private static String puri(String line) {
        int from = "{\"puri\":\"".length();
        return line.substring(from, line.indexOf('"', from));
    }

    @Test
    void anExportIsAbortedWhenItsTableIsReplaced() {
        anyRows(5_000);
        Export export =
                new Export(new LiveTable<>(table, ring), ExportFormat.NDJSON, Set.of(), () -> false, ended -> {});

        assertThatThrownBy(export::next).isInstanceOf(CancellationException.class);
    }

    /**
     * Rows are created, changed and deleted while exports are read, so many that each of the index's segments grows
     * meanwhile (the first time beyond 192 of its rows). A row is known by its number, and kept as the hash of its
     * line.
     */
    @Test
    void rowsAndTheChangesFromTheCursorAreTheTable() throws Exception {
        Log log = new Log();
        while (log.names < 190_000) {
            log.put(log.names);
        }
        log.allowed = log.next;
        List<Copied> copies = new ArrayList<>();
        try (ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<?> writing = threads.submit(log::write);
            for (int i = 0; i < 3; i++) {
                copies.add(copy(log));
            }
            log.isOver = true;
            writing.get(60, TimeUnit.SECONDS);
        }
        int[] expected = new int[Log.MOST];
        table.scan(identity -> expected[number(identity.puri())] =
                ChangeJson.changed(identity.puri(), identity.row()).hashCode());

        assertThat(log.most).as("rows at the most").isGreaterThan(205_000);
        for (Copied copied : copies) {
            assertThat(copied.before).as("changes while rows were read").isGreaterThan(copied.from);
            // Only the last change of each name: it overwrites the earlier ones.
            for (long offset = copied.from; offset < log.next; offset++) {
                int number = log.numbers[(int) offset];
                copied.hashes[number] = expected[number];
            }
            for (int number = 0; number < expected.length; number++) {
                if (copied.hashes[number] != expected[number]) {
                    throw new AssertionError("seed " + seed + ": row " + number + " of the copy from " + copied.from
                            + " is not the table's");
                }
            }
        }
    }

    /**
     * @param before changes that there were when its last row was read
     */
    private record Copied(long from, long before, int[] hashes) {}

    private Copied copy(Log log) {
        Export export = export(ExportFormat.NDJSON);
        int[] hashes = new int[Log.MOST];
        StringBuilder rest = new StringBuilder();
        long rows = 0;
        for (byte[] piece = export.next(); piece != null; piece = export.next()) {
            log.allowed += random.nextInt(600);
            rest.append(new String(piece, StandardCharsets.UTF_8));
            int end = rest.lastIndexOf("\n") + 1;
            for (String line : rest.substring(0, end).split("\n")) {
                if (line.startsWith("{\"puri\":")) {
                    hashes[number(Puri.parse(puri(line)))] = line.hashCode();
                    rows++;
                } else if (!line.startsWith(BEGIN)) {
                    assertThat(line).startsWith("{\"rows\":" + rows + ",");
                }
            }
            rest.delete(0, end);
            // A reader that pauses now and then.
            boolean waits = random.nextInt(4) == 0;
            while (waits && log.next < log.allowed && !log.hasFailed) {
                Thread.onSpinWait();
            }
        }
        assertThat(rest).isEmpty();
        return new Copied(export.cursor().nextOffsets()[0], log.next, hashes);
    }

    private static int number(Puri puri) {
        return Integer.parseInt(puri.identifier());
    }

    /** Changes the table and then reports to the ring, as the table's writer does. */
    private final class Log {
        static final int MOST = 400_000;

        private final Random random = new Random(seed + 1);
        private final int[] numbers = new int[2_000_000];
        private volatile long next;

        /** The number of changes allowed so far: a fixed number for each piece of an export, at any speed. */
        private volatile long allowed;

        private volatile boolean isOver;
        private volatile boolean hasFailed;
        private volatile long most;
        private int names;

        void write() {
            try {
                while (!isOver) {
                    if (next >= allowed) {
                        Thread.onSpinWait();
                        continue;
                    }
                    int any = random.nextInt(names);
                    switch (random.nextInt(4)) {
                        case 0 -> put(any);
                        case 1 -> remove(any);
                        default -> put(names < MOST - 1 ? names : any);
                    }
                }
            } catch (RuntimeException | Error e) {
                hasFailed = true;
                throw e;
            }
        }

        void put(int number) {
            table.put(name(number), LiveRows.row("br-" + next % 3, next));
            most = Math.max(most, table.rows());
            tell(number, LiveRows.row("br-" + next % 3, next));
            names = Math.max(names, number + 1);
        }

        private void remove(int number) {
            table.remove(name(number));
            tell(number, null);
        }

        private void tell(int number, @Nullable Row row) {
            numbers[(int) next] = number;
            ring.changed(0, next, name(number), row);
            next = next + 1;
        }

        private Puri name(int number) {
            return Puri.of("n", "c", Integer.toString(number));
        }
    }
}
