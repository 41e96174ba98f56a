package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Entry;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.StoredHash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LuceneStoreTest {
    private static final CursorSeal SEAL = new CursorSeal(new byte[32]);

    @TempDir
    private Path temporary;

    private Path root() {
        return temporary.resolve("home");
    }

    private LuceneStore open() {
        return new LuceneStore(root(), SEAL);
    }

    /** Fills an index with several segments, one of them with a deletion. */
    private FakeTopics fill() throws Exception {
        FakeTopics topics = new FakeTopics();
        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            for (int segment = 0; segment < 3; segment++) {
                for (int i = 0; i < 20; i++) {
                    topics.write(Item.of("music:tracks:" + segment + "-" + i, "title", "moon " + i));
                }
                index.apply(topics.after(index.committedCheckpoint()));
                index.commit(topics.checkpoint());
            }
            topics.erase("music:tracks:1-7");
            index.apply(topics.after(index.committedCheckpoint()));
            index.commit(topics.checkpoint());
        }
        return topics;
    }

    private static void assertHasEntries(SearchIndex index, FakeTopics topics) throws Exception {
        for (EntryKind kind : EntryKind.values()) {
            Map<Puri, Entry> entries = new HashMap<>();
            index.forEach(kind, entries::put);
            assertThat(entries).isEqualTo(topics.entries(kind));
        }
    }

    private List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> !file.endsWith("write.lock"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void rebuildsAnIndexWithAnyDamagedFile() throws Exception {
        Random random = new Random(3);
        FakeTopics topics = fill();
        int refused = 0;
        for (Path file : files(root())) {
            byte[] whole = Files.readAllBytes(file);
            byte[] flipped = whole.clone();
            flipped[random.nextInt(flipped.length)] ^= 0x10;
            for (byte[] damaged : Arrays.asList(flipped, Arrays.copyOf(whole, whole.length / 2), new byte[0], null)) {
                Path copy = temporary.resolve("copy");
                copyTo(copy);
                Path victim = copy.resolve(root().relativize(file).toString());
                if (damaged == null) {
                    Files.delete(victim);
                } else {
                    Files.write(victim, damaged);
                }
                try (LuceneStore store = new LuceneStore(copy, SEAL)) {
                    SearchIndex index = store.openServing();
                    if (!index.committedCheckpoint().equals(topics.checkpoint())) {
                        assertThat(index.committedCheckpoint()).as("%s", file).isEqualTo(IndexCheckpoint.NONE);
                        refused++;
                    }
                    index.apply(topics.after(index.committedCheckpoint()));
                    index.refresh();
                    assertHasEntries(index, topics);
                    index.commit(topics.checkpoint());
                    assertThat(files(copy)).noneMatch(path -> path.toString().contains(".refused"));
                }
                try (LuceneStore store = new LuceneStore(copy, SEAL)) {
                    assertThat(store.openServing().committedCheckpoint()).isEqualTo(topics.checkpoint());
                }
                IOUtils.rm(copy);
            }
        }
        assertThat(refused).isGreaterThan(20);
    }

    private void copyTo(Path copy) throws IOException {
        for (Path file : files(root())) {
            Path to = copy.resolve(root().relativize(file).toString());
            Files.createDirectories(to.getParent());
            Files.copy(file, to);
        }
    }

    @Test
    void keepsADamagedIndexUntilAnotherIsComplete() throws Exception {
        fill();
        Path segment = files(root().resolve("index-1")).getFirst();
        Files.write(segment, new byte[10]);
        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            assertThat(root().resolve("index-1.refused")).isDirectory();
            index.commit(IndexCheckpoint.NONE);
            assertThat(root().resolve("index-1.refused")).isDirectory();
            index.commit(new FakeTopics().checkpoint());
            assertThat(root().resolve("index-1.refused")).doesNotExist();
        }
    }

    /** Lucene refuses a document with a term of more than 32,766 bytes. */
    @Test
    void appliesEveryTextOfTheMaximumSize() throws Exception {
        List<String> units = List.of(
                "+",
                "#",
                "x",
                "\u4e00",
                "\ufdfa",
                "\ud83d\ude00",
                "\ud83d\udc68\u200d",
                "\u0301",
                "c+",
                "a.",
                "a&",
                "'",
                " ");
        FakeTopics topics = new FakeTopics();
        for (int i = 0; i < units.size(); i++) {
            String unit = units.get(i);
            int count = (32_768 - 2) / unit.getBytes(StandardCharsets.UTF_8).length;
            topics.write(Item.of("music:tracks:" + i, "t", "c" + unit.repeat(count)));
        }
        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            index.apply(topics.after(index.committedCheckpoint()));
            index.commit(topics.checkpoint());
            index.refresh();
            assertHasEntries(index, topics);
        }
    }

    @Test
    void aFailedPromotionLeavesTheServingIndex() throws Exception {
        FakeTopics topics = fill();
        try (LuceneStore store = open()) {
            SearchIndex serving = store.openServing();
            SearchIndex rebuilt = store.createUnfinished();
            rebuilt.apply(topics.after(IndexCheckpoint.NONE));
            rebuilt.commit(topics.checkpoint());
            Path obstacle = Files.createDirectories(root().resolve("current.new/folder"));

            assertThatThrownBy(store::promote).isInstanceOf(IndexUnavailableException.class);
            assertThat(store.isServingUnchanged()).isTrue();
            assertHasEntries(serving, topics);

            IOUtils.rm(obstacle);
            store.promote();
            assertThat(store.isServingUnchanged()).isTrue();
        }
    }

    @Test
    void rebuildsAnIndexOfAnotherFormat() throws Exception {
        fill();
        try (FSDirectory folder = FSDirectory.open(root().resolve("index-1"));
                IndexWriter writer = new IndexWriter(folder, new IndexWriterConfig())) {
            writer.setLiveCommitData(Map.of("form", "0", "reached", IndexCheckpoint.NONE.toString())
                    .entrySet());
        }
        try (LuceneStore store = open()) {
            assertThat(store.openServing().committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);
        }
    }

    @Test
    void rebuildsAnIndexThatWasPurgedBeforeItsFirstCheckpoint() throws Exception {
        FakeTopics topics = new FakeTopics().write(Item.of("music:tracks:1", "title", "One"));
        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            index.apply(topics.since(0));
            index.purge();
        }
        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            assertThat(index.committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);
            assertThat(index.digests().byKind()).isEmpty();
            index.apply(topics.since(0));
            index.refresh();
            assertHasEntries(index, topics);
        }
    }

    @Test
    void doesNotOpenAnIndexWithAnotherWriter() throws Exception {
        FakeTopics topics = fill();
        try (LuceneStore first = open();
                LuceneStore second = open()) {
            SearchIndex index = first.openServing();
            assertThatThrownBy(second::openServing).isInstanceOf(IndexUnavailableException.class);
            assertHasEntries(index, topics);
        }
    }

    @Test
    void doesNotContinueADamagedUnfinishedIndex() throws Exception {
        FakeTopics topics = fill();
        try (LuceneStore store = open()) {
            store.openServing();
            store.createUnfinished().commit(topics.checkpoint());
        }
        Files.write(files(root().resolve("index-2")).getFirst(), new byte[10]);
        try (LuceneStore store = open()) {
            assertHasEntries(store.openServing(), topics);
            assertThat(store.openUnfinished()).isNull();
            store.createUnfinished();
        }
    }

    @Test
    void removesAnIndexWithoutCommit() throws Exception {
        FakeTopics topics = fill();
        // A crash during the creation of an index leaves such a folder.
        Files.createDirectories(root().resolve("index-2"));
        Files.write(root().resolve("index-2").resolve("pending_segments_1"), new byte[10]);
        try (LuceneStore store = open()) {
            assertHasEntries(store.openServing(), topics);
            assertThat(store.openUnfinished()).isNull();
            assertThat(root().resolve("index-2")).doesNotExist();
            assertThat(root().resolve("index-2.refused")).doesNotExist();
            store.createUnfinished();
        }
    }

    @Test
    void anUnfinishedIndexSurvivesADamagedServingIndex() throws Exception {
        FakeTopics topics = fill();
        try (LuceneStore store = open()) {
            SearchIndex serving = store.openServing();
            SearchIndex built = store.createUnfinished();
            serving.close();
            Files.write(files(root().resolve("index-1")).getFirst(), new byte[10]);
            assertThat(store.openServing().committedCheckpoint()).isEqualTo(IndexCheckpoint.NONE);

            built.apply(topics.since(0));
            built.refresh();
            assertHasEntries(built, topics);
            built.commit(topics.checkpoint());
            store.promote();
        }
        try (LuceneStore store = open()) {
            assertHasEntries(store.openServing(), topics);
        }
    }

    @Test
    void leavesOtherFoldersAlone() throws Exception {
        Files.createDirectories(root().resolve("index-x"));
        Files.createDirectories(root().resolve("snapshots"));
        fill();
        try (LuceneStore store = open()) {
            store.openServing();
        }
        assertThat(root().resolve("index-x")).isDirectory();
        assertThat(root().resolve("snapshots")).isDirectory();
    }

    @Test
    void onlyTheOwnerCanReadFiles() throws Exception {
        fill();
        for (Path file : files(root())) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .as("%s", file)
                    .isEqualTo("rw-------");
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root().resolve("index-1"))))
                .isEqualTo("rwx------");
    }

    @Test
    void noFileContainsErasedTextAfterAPurge() throws Exception {
        List<String> secrets = List.of("zqjxkvwsecretword", "zqjxkvwsecretid", "trk_zqjxkvwz2nqr8w3");
        FakeTopics topics = new FakeTopics();
        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            for (int segment = 0; segment < 4; segment++) {
                for (int i = 0; i < 30; i++) {
                    topics.write(Item.of("music:tracks:" + segment + "-" + i, "title", "moon " + i));
                }
                if (segment == 1) {
                    topics.write(Item.of("music:users:zqjxkvwsecretid", "name", "zqjxkvwsecretword moon")
                            .withHandle("trk_zqjxkvwz2nqr8w3"));
                }
                index.apply(topics.after(index.committedCheckpoint()));
                index.commit(topics.checkpoint());
            }
            for (String secret : secrets) {
                assertThat(filesWith(secret)).as(secret).isNotEmpty();
            }

            // Written again and erased before a commit.
            topics.write(Item.of("music:users:zqjxkvwsecretid", "name", "zqjxkvwsecretword sun"));
            topics.erase("music:users:zqjxkvwsecretid");
            index.apply(topics.after(index.committedCheckpoint()));
            index.refresh();
            index.commit(topics.checkpoint());
            assertThat(filesWith(secrets.getFirst())).isNotEmpty();

            index.purge();
            for (String secret : secrets) {
                assertThat(filesWith(secret)).as(secret).isEmpty();
            }
            assertHasEntries(index, topics);
        }
    }

    private List<Path> filesWith(String secret) throws IOException {
        return files(root()).stream()
                .filter(file -> {
                    try {
                        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(secret);
                    } catch (NoSuchFileException e) {
                        return false;
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .toList();
    }

    @Test
    void findsAlteredEntriesAndNamesThem() throws Exception {
        FakeTopics topics = fill();
        List<IndexChange> changes = topics.since(0);
        IndexChange identity = changes.get(4);
        IndexChange document = changes.get(5);
        AlteredIndex.storeEntry(root().resolve("index-1"), identity, rowOn(new Shard("br-9"), (Row) identity.entry()));
        AlteredIndex.storeBytes(root().resolve("index-1"), document, new BytesRef(new byte[] {1}));

        try (LuceneStore store = open()) {
            SearchIndex index = store.openServing();
            assertThat(index.committedCheckpoint()).isEqualTo(topics.checkpoint());
            for (EntryKind kind : EntryKind.values()) {
                IndexChange written = kind == EntryKind.IDENTITY ? identity : document;
                List<StoredHash> altered = new ArrayList<>();
                PartitionDigest digest = PartitionDigest.EMPTY;
                for (int partition = 0; partition < FakeTopics.PARTITIONS; partition++) {
                    int number = partition;
                    index.forEachHash(kind, partition, hash -> {
                        if (hash.isAltered()) {
                            assertThat(number).isEqualTo(written.partition());
                            altered.add(hash);
                        }
                        return true;
                    });
                    digest = digest.plus(index.digests().of(kind, partition));
                }
                assertThat(altered).hasSize(1);
                assertThat(altered.getFirst().puri()).isEqualTo(kind == EntryKind.IDENTITY ? written.puri() : null);
                PartitionDigest expected = PartitionDigest.EMPTY;
                for (Map.Entry<Puri, Entry> entry : topics.entries(kind).entrySet()) {
                    expected = expected.plus(RowHash.of(entry.getKey(), entry.getValue()));
                }
                assertThat(digest).as("the sums of the stored hashes").isEqualTo(expected);
            }
        }
    }

    private static Row rowOn(Shard shard, Row row) {
        return new Row(
                row.uuid(),
                row.owner(),
                shard,
                row.handle(),
                row.status(),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                row.mergedInto(),
                row.position());
    }
}
