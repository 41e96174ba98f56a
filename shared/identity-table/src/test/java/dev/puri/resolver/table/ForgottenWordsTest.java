package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A table keeps nothing of owners, shards and collections that no row has any more. */
final class ForgottenWordsTest {
    private static final Instant NOW = Instant.parse("2026-03-08T00:00:00Z");
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final Puri ERIN = Puri.parse("erins-space:erins-things:7");
    private static final Puri STAYS = Puri.parse("music:tracks:1");

    @TempDir
    private Path folder;

    private final PackedTable table = new PackedTable();

    @Test
    void removesTheOwnerShardAndCollectionOfTheLastErasedIdentity() {
        table.put(STAYS, row("catalog", "br-1", null));
        table.put(ERIN, row("erin", "erins-shard", null));
        table.remove(ERIN);

        assertWords(1, 1, 1);
        assertThat(table.stats().byOwner()).containsOnlyKeys("catalog");
    }

    @Test
    void keepsAnOwnerUntilItsLastIdentityIsErased() {
        table.put(STAYS, row("erin", "br-1", null));
        table.put(ERIN, row("erin", "br-1", null));
        table.remove(ERIN);

        assertThat(table.stats().byOwner()).containsExactly(Map.entry("erin", 1L));
        assertWords(1, 1, 1);

        table.remove(STAYS);

        assertWords(0, 0, 0);
    }

    @Test
    void removesTheOwnerThatAnIdentityMovedFrom() {
        table.put(STAYS, row("erin", "erins-shard", null));
        table.put(STAYS, row("catalog", "br-1", null));

        assertWords(1, 1, 1);
        assertThat(table.byPuri(STAYS)).isEqualTo(new Identity(STAYS, row("catalog", "br-1", null)));
    }

    @Test
    void keepsTheCollectionOfASurvivorWhileARowNamesIt() {
        table.put(ERIN, row("catalog", "br-1", null));
        table.put(STAYS, row("catalog", "br-1", ERIN));
        table.remove(ERIN);

        assertThat(table.byPuri(STAYS)).isEqualTo(new Identity(STAYS, row("catalog", "br-1", ERIN)));

        table.put(STAYS, row("catalog", "br-1", null));

        assertWords(1, 1, 1);
    }

    @Test
    void erasureRemovesAHundredThousandUniqueOwnersAndShards() {
        int rows = 100_000;
        for (int i = 0; i < rows; i++) {
            table.put(unique(i), row("owner-" + i, "shard-" + i, null));
        }
        assertWords(rows, rows, rows);
        for (int i = 0; i < rows; i++) {
            table.remove(unique(i));
        }

        assertWords(0, 0, 0);
    }

    /** The parser has looked up the words of a record before it sees that its end is missing. */
    @Test
    void removesTheWordsOfAnUnreadableRecord() {
        byte[] value = RecordWriter.of(IdentityRow.class).encode(7, RowAvro.toAvro(row("erin", "erins-shard", null)));
        RowBatch batch = table.newBatch();

        boolean isAdded = batch.tryPut(
                0, ERIN.toBytes(), Arrays.copyOf(value, value.length - 1), "0-5".getBytes(StandardCharsets.US_ASCII));
        batch.put(STAYS, row("catalog", "br-1", null));
        write(batch);
        table.removeUnusedWords();

        assertThat(isAdded).isFalse();
        assertWords(1, 1, 1);
        assertThat(table.byPuri(STAYS)).isEqualTo(new Identity(STAYS, row("catalog", "br-1", null)));
    }

    @Test
    void reusesTheNumbersOfRemovedOwners() {
        for (int i = 0; i < 10_000; i++) {
            table.put(ERIN, row("owner-" + i, "shard-" + i, null));
        }

        assertThat(table.memory().dictionaries().owners.intern("another")).isLessThan(10);
    }

    /** A batch that is filled before the removal is written may have the owner again. */
    @Test
    void keepsAnOwnerThatAQueuedBatchUses() {
        RowBatch first = table.newBatch();
        RowBatch removing = table.newBatch();
        RowBatch again = table.newBatch();
        first.put(ERIN, row("erin", "erins-shard", null));
        removing.remove(ERIN);
        again.put(STAYS, row("erin", "erins-shard", null));

        write(first);
        write(removing);
        table.removeUnusedWords();
        write(again);
        table.removeUnusedWords();

        assertThat(table.byPuri(STAYS)).isEqualTo(new Identity(STAYS, row("erin", "erins-shard", null)));
        assertWords(1, 1, 1);
    }

    @Test
    void batchesInFlightAgreeWithAModelWhileOwnersAreAddedAndRemoved() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Map<Puri, Row> model = new HashMap<>();
        List<RowBatch> batches = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            batches.add(table.newBatch());
        }
        for (int round = 0; round < 2_000; round++) {
            for (RowBatch batch : batches) {
                for (int left = random.nextInt(4); left > 0; left--) {
                    Puri puri = Puri.of("n" + random.nextInt(5), "c", "x" + random.nextInt(5));
                    if (random.nextInt(3) == 0) {
                        batch.remove(puri);
                        model.remove(puri);
                    } else {
                        Puri survivor = random.nextInt(4) == 0 ? Puri.of("n" + random.nextInt(5), "d", "y") : null;
                        Row row = row("owner-" + random.nextInt(8), "shard-" + random.nextInt(8), survivor);
                        batch.put(puri, row);
                        model.put(puri, row);
                    }
                }
            }
            batches.forEach(this::write);
            Map<Puri, Row> scanned = new HashMap<>();
            table.scan(identity -> scanned.put(identity.puri(), identity.row()));
            assertThat(scanned).as("seed %d, round %d", seed, round).isEqualTo(model);
        }
        model.keySet().forEach(table::remove);
        assertWords(0, 0, 0);
    }

    @Test
    void snapshotHasNothingOfAnErasedIdentity() throws Exception {
        table.put(STAYS, row("catalog", "br-1", null));
        table.put(ERIN, row("erin", "erins-shard", Puri.parse("erins-other:things:8")));
        table.remove(ERIN);

        assertThat(snapshot()).contains("catalog", "br-1", "music:tracks").doesNotContain("erin");
    }

    /** The words are still there, for they are held until the dump is over. */
    @Test
    void snapshotOmitsErasedWordsDuringAHold() throws Exception {
        table.put(STAYS, row("catalog", "br-1", null));
        table.put(ERIN, row("erin", "erins-shard", null));
        try (Dictionaries.Hold held = table.memory().dictionaries().hold()) {
            table.remove(ERIN);

            assertWords(2, 2, 2);
            assertThat(snapshot()).doesNotContain("erin");
        }
        table.removeUnusedWords();

        assertWords(1, 1, 1);
    }

    @Test
    void openedTableReusesNumbersThatAreUnusedInTheSnapshot() throws Exception {
        table.put(ERIN, row("erin", "erins-shard", null));
        table.put(STAYS, row("catalog", "br-1", STAYS));
        table.remove(ERIN);
        snapshot();

        PackedTable opened = PackedTable.open(
                folder.resolve("snapshot"),
                new SnapshotRequirements(TOPIC, Map.of(0, 0L), Map.of(0, 0L), Duration.ofDays(7), NOW));

        assertThat(opened.byPuri(STAYS)).isEqualTo(new Identity(STAYS, row("catalog", "br-1", STAYS)));
        assertThat(opened.memory().dictionaries().owners.intern("another")).isZero();
        opened.remove(STAYS);
        assertThat(opened.memory().dictionaries().collections.size()).isZero();
        assertThat(opened.memory().dictionaries().shards.size()).isZero();
    }

    private String snapshot() throws Exception {
        Path file = folder.resolve("snapshot");
        table.writeSnapshot(file, new SnapshotOrigin(TOPIC, 1, NOW), NOW);
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    private void write(RowBatch batch) {
        table.write(batch);
        batch.clear();
    }

    private void assertWords(int collections, int owners, int shards) {
        assertThat(table.memory().dictionaries().collections.size())
                .as("collections")
                .isEqualTo(collections);
        assertThat(table.memory().dictionaries().owners.size()).as("owners").isEqualTo(owners);
        assertThat(table.memory().dictionaries().shards.size()).as("shards").isEqualTo(shards);
    }

    private static Puri unique(int number) {
        return Puri.of("n", "collection-" + number, "x");
    }

    private static Row row(String owner, String shard, @Nullable Puri survivor) {
        return new Row(
                new UUID(0x0197_b2c4_5a3e_7c11L, 1),
                new Owner(owner),
                new Shard(shard),
                null,
                survivor == null ? Row.Status.ACTIVE : Row.Status.MERGED,
                1,
                NOW,
                NOW,
                survivor,
                new Position("puri.events.v1", 0, 7));
    }
}
