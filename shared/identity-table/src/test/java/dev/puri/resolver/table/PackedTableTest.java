package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class PackedTableTest {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    private static final Handle HANDLE = new Handle("trk_4k7vx9tz2nqr8w3");
    private static final Handle OTHER = new Handle("trk_4k7vx9tz2nqr8w4");

    private final PackedTable table = new PackedTable();

    @Test
    void findsARowByPuriAndByHandle() {
        table.put(TRACK, SomeRows.active("br-1", HANDLE));

        assertThat(table.byPuri(TRACK)).isEqualTo(new Identity(TRACK, SomeRows.active("br-1", HANDLE)));
        assertThat(table.byHandle(HANDLE)).isEqualTo(table.byPuri(TRACK));
        assertThat(table.byHandle(OTHER)).isNull();
        assertThat(table.rows()).isEqualTo(1);
    }

    @Test
    void reCreationDropsTheFormerHandle() {
        table.put(TRACK, SomeRows.active("br-1", HANDLE));
        table.put(TRACK, SomeRows.active("br-1", OTHER));

        assertThat(table.byHandle(HANDLE)).isNull();
        assertThat(table.byHandle(OTHER)).isNotNull();

        table.put(TRACK, SomeRows.active("br-1", null));

        assertThat(table.byHandle(OTHER)).isNull();
        assertThat(table.byPuri(TRACK)).isNotNull();
    }

    @Test
    void deletedAndMergedRowsKeepTheirHandle() {
        table.put(TRACK, SomeRows.active("br-1", HANDLE));
        table.put(TRACK, SomeRows.deleted(HANDLE));

        assertThat(table.byHandle(HANDLE)).isNotNull();
    }

    @Test
    void tombstoneRemovesPuriAndHandle() {
        table.put(TRACK, SomeRows.active("br-1", HANDLE));
        table.remove(TRACK);
        table.remove(TRACK);

        assertThat(table.byPuri(TRACK)).isNull();
        assertThat(table.byHandle(HANDLE)).isNull();
        assertThat(table.rows()).isZero();
    }

    @Test
    void removalOfAFormerHolderKeepsTheHandleOfTheNewHolder() {
        Puri another = Puri.parse("soundcloud:tracks:2");
        table.put(TRACK, SomeRows.active("br-1", HANDLE));
        table.put(another, SomeRows.active("br-2", HANDLE));
        table.remove(TRACK);

        assertThat(table.byHandle(HANDLE)).isEqualTo(new Identity(another, SomeRows.active("br-2", HANDLE)));
    }

    @Test
    void rowsAnswerAfterTheFeedingEnds() {
        table.put(TRACK, SomeRows.active("br-1", null));
        table.close();

        assertThat(table.byPuri(TRACK)).isNotNull();
    }

    @Test
    void puriAndHandleAgreeWithAModelForRandomHistories() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<Puri, Row> model = new HashMap<>();
        List<Handle> everGranted = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            Puri puri = Puri.of("n", "c", Integer.toString(random.nextInt(50)));
            if (random.nextInt(5) == 0) {
                table.remove(puri);
                model.remove(puri);
            } else {
                // Like the clerk, grants a new handle each time, or the one that the name has.
                Row before = model.get(puri);
                Handle handle = before != null && before.handle() != null && random.nextBoolean()
                        ? before.handle()
                        : granted(i);
                everGranted.add(handle);
                Row row = SomeRows.active("s" + random.nextInt(3), handle);
                table.put(puri, row);
                model.put(puri, row);
            }
        }
        assertThat(table.rows()).as("seed %d", seed).isEqualTo(model.size());
        for (Handle handle : everGranted) {
            Identity expected = model.entrySet().stream()
                    .filter(entry -> handle.equals(entry.getValue().handle()))
                    .map(entry -> new Identity(entry.getKey(), entry.getValue()))
                    .findAny()
                    .orElse(null);
            assertThat(table.byHandle(handle)).as("seed %d", seed).isEqualTo(expected);
        }
    }

    @Test
    void handleThatMovesWithinABatchLeadsToItsLastHolder() {
        Puri another = Puri.parse("soundcloud:tracks:2");
        Row row = SomeRows.active("br-1", HANDLE);
        RowBatch batch = table.newBatch();
        batch.put(TRACK, row);
        batch.put(another, row);
        batch.remove(TRACK);
        batch.put(TRACK, SomeRows.active("br-1", OTHER));
        batch.put(another, SomeRows.active("br-1", null));
        batch.put(TRACK, row);
        table.write(batch);

        assertThat(table.byHandle(HANDLE)).isEqualTo(new Identity(TRACK, row));
        assertThat(table.byHandle(OTHER)).isNull();
        assertThat(table.byPuri(another)).isEqualTo(new Identity(another, SomeRows.active("br-1", null)));
        assertThat(table.stats().handles()).isEqualTo(1);
    }

    @Test
    void batchGrowsForTheLongestRows() {
        RowBatch batch = table.newBatch();
        List<Puri> names = new ArrayList<>();
        while (!batch.isFull()) {
            Puri puri = Puri.of("n", "c", "x".repeat(250) + names.size());
            names.add(puri);
            batch.put(puri, SomeRows.active("br-" + names.size(), null));
        }
        table.write(batch);

        for (int i = 0; i < names.size(); i++) {
            assertThat(table.byPuri(names.get(i)))
                    .isEqualTo(new Identity(names.get(i), SomeRows.active("br-" + (i + 1), null)));
        }
    }

    /** Few names and fewer handles, so that most batches have a name more than once and handles that move. */
    @Test
    void batchesOfAnyLengthEqualSingleRows() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        AnyRows rows = new AnyRows(random);
        List<Puri> names = Stream.generate(rows::puri).limit(60).distinct().toList();
        List<Handle> handles = Stream.generate(rows::handle).limit(40).toList();
        Map<Puri, Row> model = new HashMap<>();
        Map<Handle, Puri> purisByHandle = new HashMap<>();
        List<RowBatch> batches = List.of(table.newBatch(), table.newBatch(), table.newBatch());
        for (int round = 0; round < 200; round++) {
            // All batches are filled before the first is written, as by a reader that is ahead.
            for (RowBatch batch : batches) {
                int most = random.nextInt(5) == 0 ? RowBatch.MAX_ROWS : 1 + random.nextInt(40);
                for (int i = 0; i < most; i++) {
                    Puri puri = names.get(random.nextInt(names.size()));
                    Row before = model.remove(puri);
                    if (before != null && before.handle() != null) {
                        purisByHandle.remove(before.handle(), puri);
                    }
                    if (random.nextInt(4) == 0) {
                        batch.remove(puri);
                        continue;
                    }
                    Row row = rows.row(random.nextInt(5) == 0 ? null : handles.get(random.nextInt(handles.size())));
                    model.put(puri, row);
                    if (row.handle() != null) {
                        purisByHandle.put(row.handle(), puri);
                    }
                    byte[] token = row.position().toString().getBytes(StandardCharsets.US_ASCII);
                    if (random.nextBoolean()
                            || !batch.tryPut(0, puri.toBytes(), WRITER.encode(7, RowAvro.toAvro(row)), token)) {
                        batch.put(puri, row);
                    }
                }
                assertThat(batch.isFull()).isEqualTo(most == RowBatch.MAX_ROWS);
            }
            for (RowBatch batch : batches) {
                table.write(batch);
                batch.clear();
            }
            for (Puri puri : names) {
                Row row = model.get(puri);
                assertThat(table.byPuri(puri))
                        .as("seed %d, round %d", seed, round)
                        .isEqualTo(row == null ? null : new Identity(puri, row));
            }
            for (Handle handle : handles) {
                Puri expected = purisByHandle.get(handle);
                assertThat(table.byHandle(handle))
                        .as("seed %d, round %d", seed, round)
                        .isEqualTo(expected == null ? null : new Identity(expected, model.get(expected)));
            }
        }
        Map<Puri, Row> scanned = new HashMap<>();
        table.scan(identity -> scanned.put(identity.puri(), identity.row()));
        assertThat(scanned).as("seed %d", seed).isEqualTo(model);
        assertThat(table.stats().handles()).as("seed %d", seed).isEqualTo(purisByHandle.size());
        assertThat(table.stats().byOwner())
                .as("seed %d", seed)
                .isEqualTo(counted(model, row -> row.owner().text()));
        assertThat(table.stats().byStatus()).as("seed %d", seed).isEqualTo(counted(model, Row::status));
    }

    @Test
    void matchesAMapForRandomHistories() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        AnyRows rows = new AnyRows(random);
        Map<Puri, Row> model = new HashMap<>();
        List<Puri> names = new ArrayList<>();
        for (int i = 0; i < 30_000; i++) {
            Puri puri =
                    names.isEmpty() || random.nextInt(3) == 0 ? rows.puri() : names.get(random.nextInt(names.size()));
            if (random.nextInt(4) == 0) {
                table.remove(puri);
                model.remove(puri);
            } else {
                Row before = model.get(puri);
                Row row = rows.row(before != null && random.nextBoolean() ? before.handle() : rows.handle());
                table.put(puri, row);
                model.put(puri, row);
                names.add(puri);
            }
        }
        for (Puri puri : names) {
            Row row = model.get(puri);
            assertThat(table.byPuri(puri)).as("seed %d", seed).isEqualTo(row == null ? null : new Identity(puri, row));
            if (row != null && row.handle() != null) {
                assertThat(table.byHandle(row.handle())).as("seed %d", seed).isEqualTo(new Identity(puri, row));
            }
        }
        Map<Puri, Row> scanned = new HashMap<>();
        table.scan(identity -> assertThat(scanned.put(identity.puri(), identity.row()))
                .as("seed %d", seed)
                .isNull());
        assertThat(scanned).as("seed %d", seed).isEqualTo(model);
        assertStatsAreThoseOf(model, seed);
    }

    private void assertStatsAreThoseOf(Map<Puri, Row> model, long seed) {
        TableStats stats = table.stats();
        assertThat(stats.rows()).as("seed %d", seed).isEqualTo(model.size());
        assertThat(stats.handles())
                .as("seed %d", seed)
                .isEqualTo(model.values().stream()
                        .filter(row -> row.handle() != null)
                        .count());
        assertThat(stats.byCollection())
                .as("seed %d", seed)
                .isEqualTo(model.keySet().stream()
                        .collect(Collectors.groupingBy(Puri::qualifiedCollection, Collectors.counting())));
        assertThat(stats.byOwner())
                .as("seed %d", seed)
                .isEqualTo(counted(model, row -> row.owner().text()));
        assertThat(stats.byShard())
                .as("seed %d", seed)
                .isEqualTo(counted(model, row -> row.shard().text()));
        assertThat(stats.byStatus()).as("seed %d", seed).isEqualTo(counted(model, Row::status));
        assertThat(stats.bytesInUse()).isLessThan(stats.bytes());
        assertThat(stats.load()).isBetween(0.001, 0.8);
    }

    private static <T> Map<T, Long> counted(Map<Puri, Row> model, Function<Row, T> by) {
        return model.values().stream().collect(Collectors.groupingBy(by, Collectors.counting()));
    }

    @Test
    void reportsChangesAfterReadersSeeThem() {
        List<String> changes = new ArrayList<>();
        table.onChange((puri, row) -> changes.add(puri + " " + (row == null ? "-" : row.shard()) + " "
                + (table.byPuri(puri) == null ? "absent" : "there")));

        table.put(TRACK, SomeRows.active("br-1", HANDLE));
        table.remove(TRACK);
        table.onChange(null);
        table.put(TRACK, SomeRows.active("br-1", HANDLE));

        assertThat(changes).containsExactly("soundcloud:tracks:1 br-1 there", "soundcloud:tracks:1 - absent");
    }

    private static Handle granted(int number) {
        StringBuilder text = new StringBuilder("trk_");
        int rest = number;
        for (int i = 0; i < Handle.RANDOM_LENGTH; i++) {
            text.append(Handle.ALPHABET.charAt(rest % Handle.ALPHABET.length()));
            rest /= Handle.ALPHABET.length();
        }
        return new Handle(text.toString());
    }
}
