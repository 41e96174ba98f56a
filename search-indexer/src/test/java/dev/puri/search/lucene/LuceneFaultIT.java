package dev.puri.search.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.CursorSeal;
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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Kills a process at any time while it writes, commits, rebuilds and purges. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
final class LuceneFaultIT {
    private static final int KILLS = 6;

    /** Changes that a purge may have committed after the last checkpoint. */
    private static final int MAX_UNCOMMITTED = 30_000;

    @TempDir
    private Path folder;

    @Test
    void aKilledProcessLosesAndRepeatsNothing() throws Exception {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Path store = folder.resolve("store");
        int before = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            Path output = folder.resolve("output-" + kill);
            Process process = new ProcessBuilder(
                            ProcessHandle.current().info().command().orElseThrow(),
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Child.class.getName(),
                            store.toString(),
                            Long.toString(seed))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> Files.readString(output).contains("committed"));
                // A random time, so that the kill hits any operation.
                assertThat(process.waitFor(random.nextInt(1500), TimeUnit.MILLISECONDS))
                        .as("seed %d: %s", seed, Files.readString(output))
                        .isFalse();
            } finally {
                process.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
            }
            try (LuceneStore opened = new LuceneStore(store, new CursorSeal(new byte[32]))) {
                before = assertIsConsistent(opened.openServing(), seed, before);
                SearchIndex building = opened.openUnfinished();
                if (building != null) {
                    assertIsConsistent(building, seed, 0);
                }
            }
            try (Stream<Path> all = Files.list(store)) {
                assertThat(all.map(Path::toString)).noneMatch(name -> name.endsWith(".refused"));
            }
        }
    }

    /** Opens the files as a process would after a crash at that time. */
    @Test
    void everyCommitHasAllEntriesOfItsCheckpoint() throws Exception {
        FakeTopics topics = new FakeTopics();
        CompletableFuture<Void> purges;
        try (LuceneStore store = new LuceneStore(folder.resolve("store"), new CursorSeal(new byte[32]))) {
            SearchIndex index = store.openServing();
            AtomicBoolean goesOn = new AtomicBoolean(true);
            purges = CompletableFuture.runAsync(() -> purgeRepeatedly(index), LuceneFaultIT::startThread);
            CompletableFuture<Integer> checks = CompletableFuture.supplyAsync(
                    () -> checkCommits(folder.resolve("store").resolve("index-1"), goesOn), LuceneFaultIT::startThread);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
            try {
                for (int i = 0; System.nanoTime() < end && !checks.isDone() && !purges.isDone(); i++) {
                    int from = topics.size();
                    for (int each = 0; each < 40; each++) {
                        topics.writeRow(Item.of("music:tracks:" + i + '-' + each, "title", "moon"));
                    }
                    index.apply(topics.since(from));
                    IndexCheckpoint all = topics.checkpoint();
                    index.commit(new IndexCheckpoint(
                            Map.of(
                                    EntryKind.IDENTITY,
                                    Integer.toString(topics.size()),
                                    EntryKind.DOCUMENT,
                                    "documents"),
                            all.offsets(),
                            all.completeUpTo(),
                            true,
                            null));
                }
            } finally {
                goesOn.set(false);
            }
            assertThat(checks.get(20, TimeUnit.SECONDS)).isPositive();
            assertThat(purges).isNotDone();
        }
        // Closing the index ends its purge.
        assertThatThrownBy(() -> purges.get(20, TimeUnit.SECONDS)).hasMessageContaining("cannot purge the index");
    }

    private static void startThread(Runnable work) {
        Thread.ofPlatform().daemon(true).start(work);
    }

    private static void purgeRepeatedly(SearchIndex index) {
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

    private static int checkCommits(Path folder, AtomicBoolean goesOn) {
        int checks = 0;
        try (FSDirectory files = FSDirectory.open(folder)) {
            while (goesOn.get()) {
                try (DirectoryReader reader = DirectoryReader.open(files)) {
                    String checkpoint = reader.getIndexCommit().getUserData().get("reached");
                    assertThat(reader.numDocs())
                            .as(checkpoint)
                            .isGreaterThanOrEqualTo(length(IndexCheckpoint.parse(checkpoint)));
                    checks++;
                } catch (NoSuchFileException | FileNotFoundException e) {
                    // A later commit has replaced the files.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return checks;
    }

    /**
     * Asserts that an index has the entries of its checkpoint, or later ones for some pURIs, and all entries after it
     * has applied the remaining changes. Returns the number of committed writes.
     */
    private static int assertIsConsistent(SearchIndex index, long seed, int atLeast) throws Exception {
        int committed = length(index.committedCheckpoint());
        assertThat(committed).as("committed writes are kept, seed %d", seed).isGreaterThanOrEqualTo(atLeast);
        History history = new History(seed);
        FakeTopics topics = history.upTo(committed);
        Map<EntryKind, Map<Puri, Entry>> expected = new EnumMap<>(EntryKind.class);
        for (EntryKind kind : EntryKind.values()) {
            expected.put(kind, topics.entries(kind));
        }
        int size = topics.size();
        // A purge commits later changes with the previous checkpoint.
        history.upTo(committed + MAX_UNCOMMITTED);
        Set<Object> later = new HashSet<>();
        for (IndexChange change : topics.since(size)) {
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
                            .as("%s has an entry that was never written, seed %d", puri, seed)
                            .contains(Arrays.asList(kind, puri, entry));
                }
            }
        }
        index.apply(topics.after(index.committedCheckpoint()));
        index.refresh();
        for (EntryKind kind : EntryKind.values()) {
            assertThat(entries(index, kind, seed)).as("seed %d", seed).isEqualTo(topics.entries(kind));
        }
        return committed;
    }

    private static Map<Puri, Entry> entries(SearchIndex index, EntryKind kind, long seed)
            throws IndexUnavailableException {
        Map<Puri, Entry> entries = new HashMap<>();
        index.forEach(
                kind,
                (puri, entry) -> assertThat(entries.put(puri, entry))
                        .as("%s occurs twice, seed %d", puri, seed)
                        .isNull());
        return entries;
    }

    /** Returns the number of writes in an index. The tests store it as a topic id. */
    private static int length(IndexCheckpoint checkpoint) {
        String id = checkpoint.topicIds().get(EntryKind.IDENTITY);
        return id == null ? 0 : Integer.parseInt(id);
    }

    /** Random writes that are the same for the same seed in every process. */
    private static final class History {
        private final Random random;
        private final FakeTopics topics = new FakeTopics();
        private int length;

        private History(long seed) {
            random = new Random(seed);
        }

        private FakeTopics upTo(int end) {
            for (; length < end; length++) {
                String puri = "music:tracks:" + random.nextInt(2000);
                if (random.nextInt(4) == 0) {
                    topics.erase(puri);
                } else {
                    topics.write(Item.of(puri, "title", "moon " + length));
                }
            }
            return topics;
        }

        private IndexCheckpoint checkpoint() {
            IndexCheckpoint checkpoint = topics.checkpoint();
            return new IndexCheckpoint(
                    Map.of(EntryKind.IDENTITY, Integer.toString(length), EntryKind.DOCUMENT, "documents"),
                    checkpoint.offsets(),
                    checkpoint.completeUpTo(),
                    true,
                    null);
        }
    }

    /** The process that the test kills. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            History history = new History(Long.parseLong(args[1]));
            Random random = new Random();
            LuceneStore store = new LuceneStore(Path.of(args[0]), new CursorSeal(new byte[32]));
            SearchIndex index = store.openServing();
            history.upTo(length(index.committedCheckpoint()));
            SearchIndex left = store.openUnfinished();
            if (left != null) {
                store.drop(left);
            }
            CompletableFuture<Void> purge = CompletableFuture.completedFuture(null);
            // A limit in case nobody kills it.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
            while (System.nanoTime() < end) {
                int from = history.topics.size();
                history.upTo(history.length + 1 + random.nextInt(300));
                index.apply(history.topics.since(from));
                switch (random.nextInt(8)) {
                    case 0 -> index.refresh();
                    case 1 -> {
                        purge.join();
                        SearchIndex purged = index;
                        purge = CompletableFuture.runAsync(() -> purge(purged), LuceneFaultIT::startThread);
                    }
                    case 2 -> {
                        purge.join();
                        index = rebuilt(store, index, history);
                    }
                    default -> {
                        index.commit(history.checkpoint());
                        System.out.println("committed");
                    }
                }
            }
        }

        private static SearchIndex rebuilt(LuceneStore store, SearchIndex before, History history) throws Exception {
            SearchIndex built = store.createUnfinished();
            int half = history.topics.size() / 2;
            built.apply(history.topics.since(0).subList(0, half));
            built.refresh();
            for (IndexChange change : history.topics.since(half)) {
                built.apply(List.of(change));
            }
            built.commit(history.checkpoint());
            store.promote();
            store.drop(before);
            return built;
        }
    }
}
