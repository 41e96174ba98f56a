package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.Item;
import dev.puri.search.index.SearchIndex;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.store.FSDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that writes, commits, builds anew and purges is killed, at any moment. */
@Timeout(180)
final class LuceneFaultIT {
    private static final int KILLS = 6;

    /** Changes that can have come after a commit and before a purge. */
    private static final int AHEAD = 30_000;

    @TempDir
    private Path folder;

    @Test
    void aKilledProcessLosesAndDoublesNothing() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Path home = folder.resolve("home");
        int before = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            Path output = folder.resolve("output-" + kill);
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElseThrow(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Child.class.getName(),
                            home.toString(),
                            Long.toString(seed))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> Files.readString(output).contains("committed"));
                // Until a moment that falls into anything that it does.
                assertThat(process.waitFor(random.nextInt(1500), TimeUnit.MILLISECONDS))
                        .as("seed %d: %s", seed, Files.readString(output))
                        .isFalse();
            } finally {
                process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
            }
            try (LuceneStore opened = new LuceneStore(home, new CursorSeal(new byte[32]))) {
                before = assertIsWhole(opened.serving(), seed, before);
                SearchIndex building = opened.building();
                if (building != null) {
                    assertIsWhole(building, seed, 0);
                }
            }
            try (Stream<Path> all = Files.list(home)) {
                assertThat(all.map(Path::toString)).noneMatch(name -> name.endsWith(".refused"));
            }
        }
    }

    /** Read from the files, as whoever opens them after an end at that moment. */
    @Test
    void everyCommitHasAllThatItSays() throws Exception {
        FakeTopics log = new FakeTopics();
        CompletableFuture<Void> purges;
        try (LuceneStore home = new LuceneStore(folder.resolve("home"), new CursorSeal(new byte[32]))) {
            SearchIndex index = home.serving();
            AtomicBoolean goesOn = new AtomicBoolean(true);
            purges = CompletableFuture.runAsync(() -> purgeAgainAndAgain(index), LuceneFaultIT::startThread);
            CompletableFuture<Integer> looks = CompletableFuture.supplyAsync(
                    () -> look(folder.resolve("home").resolve("index-1"), goesOn), LuceneFaultIT::startThread);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
            try {
                for (int i = 0; System.nanoTime() < end && !looks.isDone() && !purges.isDone(); i++) {
                    int from = log.size();
                    for (int each = 0; each < 40; each++) {
                        log.writeRow(Item.of("music:tracks:" + i + '-' + each, "title", "moon"));
                    }
                    index.apply(log.since(from));
                    IndexCheckpoint all = log.reached();
                    index.commit(new IndexCheckpoint(
                            Map.of(EntryKind.IDENTITY, Integer.toString(log.size()), EntryKind.DOCUMENT, "documents"),
                            all.offsets(),
                            all.asOf(),
                            true,
                            null));
                }
            } finally {
                goesOn.set(false);
            }
            assertThat(looks.get(20, TimeUnit.SECONDS)).isPositive();
            assertThat(purges).isNotDone();
        }
        // An index may be closed under its purge, which ends with it.
        assertThatThrownBy(() -> purges.get(20, TimeUnit.SECONDS)).hasMessageContaining("cannot purge the index");
    }

    private static void startThread(Runnable work) {
        Thread.ofPlatform().daemon(true).start(work);
    }

    private static void purgeAgainAndAgain(SearchIndex index) {
        while (true) {
            purge(index);
        }
    }

    private static void purge(SearchIndex index) {
        try {
            index.purge();
        } catch (IndexUnavailableException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int look(Path folder, AtomicBoolean goesOn) {
        int looks = 0;
        try (FSDirectory files = FSDirectory.open(folder)) {
            while (goesOn.get()) {
                try (DirectoryReader reader = DirectoryReader.open(files)) {
                    String reached = reader.getIndexCommit().getUserData().get("reached");
                    assertThat(reader.numDocs()).as(reached).isGreaterThanOrEqualTo(length(IndexCheckpoint.parse(reached)));
                    looks++;
                } catch (NoSuchFileException | FileNotFoundException e) {
                    // The commit after it has come meanwhile.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return looks;
    }

    /** It has what the log says at its commit, or some of what the log says after; and with the rest of it all. */
    private static int assertIsWhole(SearchIndex index, long seed, int atLeast) throws Exception {
        int committed = length(index.committed());
        assertThat(committed).as("what was committed is kept, seed %d", seed).isGreaterThanOrEqualTo(atLeast);
        History history = new History(seed);
        FakeTopics log = history.upTo(committed);
        Map<EntryKind, Map<Puri, Entry>> expected = new EnumMap<>(EntryKind.class);
        for (EntryKind kind : EntryKind.values()) {
            expected.put(kind, log.entries(kind));
        }
        int size = log.size();
        // A purge keeps what was taken too, with how far the commit before it went.
        history.upTo(committed + AHEAD);
        Set<Object> later = new HashSet<>();
        for (IndexChange change : log.since(size)) {
            later.add(Arrays.asList(change.kind(), change.puri(), change.entry()));
        }
        for (EntryKind kind : EntryKind.values()) {
            Map<Puri, Entry> found = entries(index, kind, seed);
            Set<Puri> all = new HashSet<>(found.keySet());
            all.addAll(expected.get(kind).keySet());
            for (Puri puri : all) {
                Entry entry = found.get(puri);
                if (!Objects.equals(entry, expected.get(kind).get(puri))) {
                    assertThat(later)
                            .as("%s is as the log never said, seed %d", puri, seed)
                            .contains(Arrays.asList(kind, puri, entry));
                }
            }
        }
        index.apply(log.after(index.committed()));
        index.refresh();
        for (EntryKind kind : EntryKind.values()) {
            assertThat(entries(index, kind, seed)).as("seed %d", seed).isEqualTo(log.entries(kind));
        }
        return committed;
    }

    private static Map<Puri, Entry> entries(SearchIndex index, EntryKind kind, long seed) throws IndexUnavailableException {
        Map<Puri, Entry> entries = new HashMap<>();
        index.forEach(
                kind,
                (puri, entry) -> assertThat(entries.put(puri, entry))
                        .as("%s is there twice, seed %d", puri, seed)
                        .isNull());
        return entries;
    }

    /** How long a log was of which an index has all; kept as another topic's name would be. */
    private static int length(IndexCheckpoint reached) {
        String id = reached.topicIds().get(EntryKind.IDENTITY);
        return id == null ? 0 : Integer.parseInt(id);
    }

    /** The same for a seed wherever it is made. */
    private static final class History {
        private final Random random;
        private final FakeTopics log = new FakeTopics();
        private int length;

        private History(long seed) {
            random = new Random(seed);
        }

        private FakeTopics upTo(int end) {
            for (; length < end; length++) {
                String puri = "music:tracks:" + random.nextInt(2000);
                if (random.nextInt(4) == 0) {
                    log.erase(puri);
                } else {
                    log.write(Item.of(puri, "title", "moon " + length));
                }
            }
            return log;
        }

        private IndexCheckpoint reached() {
            IndexCheckpoint reached = log.reached();
            return new IndexCheckpoint(
                    Map.of(EntryKind.IDENTITY, Integer.toString(length), EntryKind.DOCUMENT, "documents"),
                    reached.offsets(),
                    reached.asOf(),
                    true,
                    null);
        }
    }

    /** The process to be killed. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            History history = new History(Long.parseLong(args[1]));
            Random random = new Random();
            LuceneStore home = new LuceneStore(Path.of(args[0]), new CursorSeal(new byte[32]));
            SearchIndex index = home.serving();
            history.upTo(length(index.committed()));
            SearchIndex left = home.building();
            if (left != null) {
                home.drop(left);
            }
            CompletableFuture<Void> purge = CompletableFuture.completedFuture(null);
            // Bounded, should nobody kill it.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
            while (System.nanoTime() < end) {
                int from = history.log.size();
                history.upTo(history.length + 1 + random.nextInt(300));
                index.apply(history.log.since(from));
                switch (random.nextInt(8)) {
                    case 0 -> index.refresh();
                    case 1 -> {
                        purge.join();
                        SearchIndex purged = index;
                        purge = CompletableFuture.runAsync(() -> purge(purged), LuceneFaultIT::startThread);
                    }
                    case 2 -> {
                        purge.join();
                        index = rebuilt(home, index, history);
                    }
                    default -> {
                        index.commit(history.reached());
                        System.out.println("committed");
                    }
                }
            }
        }

        private static SearchIndex rebuilt(LuceneStore home, SearchIndex before, History history) throws Exception {
            SearchIndex built = home.build();
            int half = history.log.size() / 2;
            built.apply(history.log.since(0).subList(0, half));
            built.refresh();
            for (IndexChange change : history.log.since(half)) {
                built.apply(List.of(change));
            }
            built.commit(history.reached());
            home.promote();
            home.drop(before);
            return built;
        }
    }
}
