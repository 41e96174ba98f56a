package dev.puri.search.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.RowHash;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The digests of the entries, and the comparison of the entries with their stored hashes. */
public abstract class DigestContract extends SearchIndexContract {
    @Test
    void digestsAreThoseOfTheEntriesAfterAnyChanges() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        assertHasDigestsOfTopics(seed);
        for (int round = 0; round < 15; round++) {
            for (int change = random.nextInt(12); change >= 0; change--) {
                String puri = "music:tracks:" + random.nextInt(25);
                switch (random.nextInt(5)) {
                    case 0 -> topics.erase(puri);
                    case 1 -> topics.writeRow(Item.of(puri).deleted());
                    case 2 -> topics.writeRow(Item.of(puri).merged("music:tracks:0"));
                    default ->
                        topics.write(Item.of(puri, "title", "title " + random.nextInt(1000))
                                .on("br-" + random.nextInt(3)));
                }
            }
            apply();
            assertHasDigestsOfTopics(seed);
        }
        index.commit(topics.checkpoint());
        reopen();
        assertHasDigestsOfTopics(seed);
    }

    private void assertHasDigestsOfTopics(long seed) throws Exception {
        EntryDigests digests = index.digests();
        for (EntryKind kind : EntryKind.values()) {
            for (int partition = 0; partition < FakeTopics.PARTITIONS; partition++) {
                PartitionDigest expected = PartitionDigest.EMPTY;
                for (Map.Entry<Puri, Entry> entry : topics.entries(kind).entrySet()) {
                    if (FakeTopics.partition(entry.getKey()) == partition) {
                        expected = expected.plus(RowHash.of(entry.getKey(), entry.getValue()));
                    }
                }
                assertThat(digests.of(kind, partition))
                        .as("%s, partition %d, seed %d", kind, partition, seed)
                        .isEqualTo(expected);
            }
        }
    }

    /** Otherwise a digest between the records that it has and those that it reads again would differ. */
    @Test
    void anIndexThatIsOpenedWithoutCheckpointIsEmpty() throws Exception {
        apply(Item.of("music:tracks:1", "title", "One"), Item.of("music:tracks:2", "title", "Two"));
        SearchIndex unfinished = store.createUnfinished();
        unfinished.apply(topics.since(0));
        reopen();
        assertThat(index.committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);
        assertThat(index.digests().byKind()).isEmpty();
        unfinished = store.openUnfinished();
        if (unfinished != null) {
            assertThat(unfinished.digests().byKind()).isEmpty();
        }

        index.apply(topics.since(0));
        index.refresh();
        assertHasDigestsOfTopics(0);
    }

    @Test
    void everyEntryHasItsHash() throws Exception {
        for (int i = 0; i < 40; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "One", "odd name \u00e9", "\u0000\ud83d\ude00")
                    .withHandle("trk_123456789abcde" + "fghjkmnpqrstuvwxyz".charAt(i % 18)));
        }
        topics.erase("music:tracks:7");
        apply(Item.of("music:tracks:8", "title", "Two").on("eu~1:a/b").merged("music:tracks:1"));

        for (EntryKind kind : EntryKind.values()) {
            List<Puri> compared = new ArrayList<>();
            for (int partition = 0; partition < FakeTopics.PARTITIONS; partition++) {
                int number = partition;
                index.forEachHash(kind, partition, hash -> {
                    assertThat(hash.isAltered()).as("%s", hash).isFalse();
                    assertThat(FakeTopics.partition(hash.puri())).isEqualTo(number);
                    return compared.add(hash.puri());
                });
            }
            assertThat(compared)
                    .containsExactlyInAnyOrderElementsOf(topics.entries(kind).keySet());
        }
    }

    @Test
    void theComparisonEndsWhenItsVisitorReturnsFalse() throws Exception {
        for (int i = 0; i < 20; i++) {
            topics.write(Item.of("music:tracks:" + i, "title", "One"));
        }
        apply();
        List<StoredHash> visited = new ArrayList<>();
        index.forEachHash(EntryKind.DOCUMENT, 1, hash -> {
            visited.add(hash);
            return visited.size() < 2;
        });
        assertThat(visited).hasSize(2);
    }
}
