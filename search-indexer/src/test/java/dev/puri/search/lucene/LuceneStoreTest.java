package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SearchIndex;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.FSDirectory;
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

    private LuceneStore home() {
        return new LuceneStore(root(), SEAL);
    }

    /** Of several segments, one of which has deletions. */
    private FakeTopics fill() throws Exception {
        FakeTopics log = new FakeTopics();
        try (LuceneStore home = home()) {
            SearchIndex index = home.serving();
            for (int segment = 0; segment < 3; segment++) {
                for (int i = 0; i < 20; i++) {
                    log.write(Item.of("music:tracks:" + segment + "-" + i, "title", "moon " + i));
                }
                index.apply(log.after(index.committed()));
                index.commit(log.reached());
            }
            log.erase("music:tracks:1-7");
            index.apply(log.after(index.committed()));
            index.commit(log.reached());
        }
        return log;
    }

    private static void assertIs(SearchIndex index, FakeTopics log) throws Exception {
        for (EntryKind kind : EntryKind.values()) {
            Map<Puri, Entry> entries = new HashMap<>();
            index.forEach(kind, entries::put);
            assertThat(entries).isEqualTo(log.entries(kind));
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
    void whateverIsDamagedIsBuiltAnewAndNeverTrusted() throws Exception {
        Random random = new Random(3);
        FakeTopics log = fill();
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
                try (LuceneStore home = new LuceneStore(copy, SEAL)) {
                    SearchIndex index = home.serving();
                    if (!index.committed().equals(log.reached())) {
                        assertThat(index.committed()).as("%s", file).isEqualTo(IndexCheckpoint.NONE);
                        refused++;
                    }
                    index.apply(log.after(index.committed()));
                    index.refresh();
                    assertIs(index, log);
                    index.commit(log.reached());
                    assertThat(files(copy)).noneMatch(path -> path.toString().contains(".refused"));
                }
                try (LuceneStore home = new LuceneStore(copy, SEAL)) {
                    assertThat(home.serving().committed()).isEqualTo(log.reached());
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
    void aDamagedIndexStaysToBeLookedAtUntilAnotherIsComplete() throws Exception {
        fill();
        Path segment = files(root().resolve("index-1")).getFirst();
        Files.write(segment, new byte[10]);
        try (LuceneStore home = home()) {
            SearchIndex index = home.serving();
            assertThat(root().resolve("index-1.refused")).isDirectory();
            index.commit(IndexCheckpoint.NONE);
            assertThat(root().resolve("index-1.refused")).isDirectory();
            index.commit(new FakeTopics().reached());
            assertThat(root().resolve("index-1.refused")).doesNotExist();
        }
    }

    @Test
    void anIndexOfAnotherFormIsBuiltAnew() throws Exception {
        fill();
        try (FSDirectory folder = FSDirectory.open(root().resolve("index-1"));
                IndexWriter writer = new IndexWriter(folder, new IndexWriterConfig())) {
            writer.setLiveCommitData(
                    Map.of("form", "0", "reached", IndexCheckpoint.NONE.toString()).entrySet());
        }
        try (LuceneStore home = home()) {
            assertThat(home.serving().committed()).isEqualTo(IndexCheckpoint.NONE);
        }
    }

    @Test
    void anIndexThatSomebodyElseWritesIsNotTouched() throws Exception {
        FakeTopics log = fill();
        try (LuceneStore first = home();
                LuceneStore second = home()) {
            SearchIndex index = first.serving();
            assertThatThrownBy(second::serving).isInstanceOf(IndexUnavailableException.class);
            assertIs(index, log);
        }
    }

    @Test
    void whatIsBuiltAndDamagedIsNotGoneOnWith() throws Exception {
        FakeTopics log = fill();
        try (LuceneStore home = home()) {
            home.serving();
            home.build().commit(log.reached());
        }
        Files.write(files(root().resolve("index-2")).getFirst(), new byte[10]);
        try (LuceneStore home = home()) {
            assertIs(home.serving(), log);
            assertThat(home.building()).isNull();
            home.build();
        }
    }

    @Test
    void anIndexThatWasNeverCommittedIsForgottenAndNotSetAside() throws Exception {
        FakeTopics log = fill();
        // As an end in the midst of making one leaves it.
        Files.createDirectories(root().resolve("index-2"));
        Files.write(root().resolve("index-2").resolve("pending_segments_1"), new byte[10]);
        try (LuceneStore home = home()) {
            assertIs(home.serving(), log);
            assertThat(home.building()).isNull();
            assertThat(root().resolve("index-2")).doesNotExist();
            assertThat(root().resolve("index-2.refused")).doesNotExist();
            home.build();
        }
    }

    @Test
    void anIndexThatIsBuiltOutlivesOneThatServesAndIsDamaged() throws Exception {
        FakeTopics log = fill();
        try (LuceneStore home = home()) {
            SearchIndex serving = home.serving();
            SearchIndex built = home.build();
            serving.close();
            Files.write(files(root().resolve("index-1")).getFirst(), new byte[10]);
            assertThat(home.serving().committed()).isEqualTo(IndexCheckpoint.NONE);

            built.apply(log.since(0));
            built.refresh();
            assertIs(built, log);
            built.commit(log.reached());
            home.promote();
        }
        try (LuceneStore home = home()) {
            assertIs(home.serving(), log);
        }
    }

    @Test
    void foldersOfOthersAreLeftAlone() throws Exception {
        Files.createDirectories(root().resolve("index-x"));
        Files.createDirectories(root().resolve("snapshots"));
        fill();
        try (LuceneStore home = home()) {
            home.serving();
        }
        assertThat(root().resolve("index-x")).isDirectory();
        assertThat(root().resolve("snapshots")).isDirectory();
    }

    @Test
    void filesAreTheirOwnersOnly() throws Exception {
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
    void nothingThatIsErasedStandsInAnyFileAfterAPurge() throws Exception {
        List<String> secrets = List.of("zqjxkvwsecretword", "zqjxkvwsecretid", "trk_zqjxkvwz2nqr8w3");
        FakeTopics log = new FakeTopics();
        try (LuceneStore home = home()) {
            SearchIndex index = home.serving();
            for (int segment = 0; segment < 4; segment++) {
                for (int i = 0; i < 30; i++) {
                    log.write(Item.of("music:tracks:" + segment + "-" + i, "title", "moon " + i));
                }
                if (segment == 1) {
                    log.write(Item.of("music:users:zqjxkvwsecretid", "name", "zqjxkvwsecretword moon")
                            .bearing("trk_zqjxkvwz2nqr8w3"));
                }
                index.apply(log.after(index.committed()));
                index.commit(log.reached());
            }
            for (String secret : secrets) {
                assertThat(filesWith(secret)).as(secret).isNotEmpty();
            }

            // Again, so that it is written and gone before any commit.
            log.write(Item.of("music:users:zqjxkvwsecretid", "name", "zqjxkvwsecretword sun"));
            log.erase("music:users:zqjxkvwsecretid");
            index.apply(log.after(index.committed()));
            index.refresh();
            index.commit(log.reached());
            assertThat(filesWith(secrets.getFirst())).isNotEmpty();

            index.purge();
            for (String secret : secrets) {
                assertThat(filesWith(secret)).as(secret).isEmpty();
            }
            assertIs(index, log);
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
}
