package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.Item;
import dev.puri.search.index.SampleQuery;
import dev.puri.search.index.SearchIndex;
import dev.puri.testkit.OpenSearchFixture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class ErasureIT {
    /** Words that no compression splits, so a file that contains one has its bytes. */
    private static final List<String> SECRETS = List.of("zqxjkvbpwm", "qjzvxkgwfy", "trk_9x8w7v6u5t4s3r2");

    private final OpenSearchFixture node = OpenSearchFixture.shared();

    @Test
    void noFileContainsErasedTextAfterAPurge() throws Exception {
        FakeTopics topics = new FakeTopics();
        try (IndexStore store = new OpenSearchStore(NodeSettings.of(node, "erasure"), new CursorSeal(new byte[32]))) {
            SearchIndex index = store.openServing();
            topics.write(
                    Item.of("people:users:" + SECRETS.get(0), "name", "Ana " + SECRETS.get(1))
                            .withHandle(SECRETS.get(2)),
                    Item.of("people:users:stays", "name", "Bea"));
            index.apply(topics.since(0));
            index.refresh();
            assertThat(filesWith(SECRETS.get(1))).as("the transaction log").anyMatch(file -> file.endsWith(".tlog"));
            flush();
            assertThat(filesWith(SECRETS.get(1))).as("segments").isNotEmpty().noneMatch(file -> file.endsWith(".tlog"));

            int before = topics.size();
            topics.erase("people:users:" + SECRETS.get(0));
            index.apply(topics.since(before));
            index.refresh();
            index.commit(topics.checkpoint());
            index.purge();

            for (String secret : SECRETS) {
                assertThat(filesWith(secret)).as(secret).isEmpty();
            }
            assertThat(SampleQuery.text("bea").purisOf(index)).containsExactly("people:users:stays");
        }
    }

    private void flush() throws Exception {
        try (ClusterClient cluster = new ClusterClient(NodeSettings.of(node, "raw"))) {
            cluster.sendWithWriteTimeout("POST", "/erasure/_flush?force=true", null);
        }
    }

    /** Returns the files of the node that contain a text. Other tests write and remove files meanwhile. */
    private List<String> filesWith(String text) throws IOException {
        List<String> found = new ArrayList<>();
        Files.walkFileTree(node.data(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                try {
                    // In this charset each byte is one character.
                    if (new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(text)) {
                        found.add(file.toString());
                    }
                } catch (NoSuchFileException e) {
                    return visitFileFailed(file, e);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e) throws IOException {
                return e == null ? FileVisitResult.CONTINUE : visitFileFailed(folder, e);
            }
        });
        return found;
    }
}
