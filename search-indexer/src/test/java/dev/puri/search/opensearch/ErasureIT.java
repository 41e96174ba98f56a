package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.search.index.CursorSeal;
import dev.puri.search.index.FakeTopics;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.Item;
import dev.puri.search.index.SearchIndex;
import dev.puri.search.index.TestQuery;
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
    /** TextAnalysis that no compression divides: each is found as it stands wherever it is stored. */
    private static final List<String> SECRETS = List.of("zqxjkvbpwm", "qjzvxkgwfy", "trk_9x8w7v6u5t4s3r2");

    private final OpenSearchFixture node = OpenSearchFixture.shared();

    @Test
    void whatIsErasedStandsInNoFileAfterAPurge() throws Exception {
        FakeTopics log = new FakeTopics();
        try (IndexStore home = new OpenSearchStore(NodeSettings.settings(node, "erasure"), new CursorSeal(new byte[32]))) {
            SearchIndex index = home.serving();
            log.write(
                    Item.of("people:users:" + SECRETS.get(0), "name", "Ana " + SECRETS.get(1))
                            .bearing(SECRETS.get(2)),
                    Item.of("people:users:stays", "name", "Bea"));
            index.apply(log.since(0));
            index.refresh();
            assertThat(filesWith(SECRETS.get(1))).as("the transaction log").anyMatch(file -> file.endsWith(".tlog"));
            flush();
            assertThat(filesWith(SECRETS.get(1))).as("segments").isNotEmpty().noneMatch(file -> file.endsWith(".tlog"));

            int before = log.size();
            log.erase("people:users:" + SECRETS.get(0));
            index.apply(log.since(before));
            index.refresh();
            index.commit(log.reached());
            index.purge();

            for (String secret : SECRETS) {
                assertThat(filesWith(secret)).as(secret).isEmpty();
            }
            assertThat(TestQuery.text("bea").purisOf(index)).containsExactly("people:users:stays");
        }
    }

    private void flush() throws Exception {
        try (ClusterClient cluster = new ClusterClient(NodeSettings.settings(node, "raw"))) {
            cluster.write("POST", "/erasure/_flush?force=true", null);
        }
    }

    /** Of all that the node keeps, while other tests make it write and remove files. */
    private List<String> filesWith(String text) throws IOException {
        List<String> found = new ArrayList<>();
        Files.walkFileTree(node.data(), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                try {
                    // One byte is one character, so that bytes are found as text.
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
