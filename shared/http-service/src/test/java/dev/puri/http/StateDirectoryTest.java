package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class StateDirectoryTest {
    @TempDir
    private Path parent;

    @Test
    void removesOnlyTheFilesOfAKilledServer() throws Exception {
        // The lock ended with the process.
        Path left = Files.createDirectories(parent.resolve("puri-search-1/index-1"));
        Files.writeString(left.resolve("_0.cfs"), "text");
        Files.createFile(parent.resolve("puri-search-1.lock"));
        Files.createDirectory(parent.resolve("puri-search-notes"));
        Files.createDirectory(parent.resolve("puri-resolver-1"));
        Files.createFile(parent.resolve("puri-resolver-1.lock"));
        try (StateDirectory used = StateDirectory.temporary(parent, "puri-search-")) {
            Files.createDirectory(used.path());
            try (StateDirectory another = StateDirectory.temporary(parent, "puri-search-")) {
                assertThat(used.path()).isDirectory().isNotEqualTo(another.path());
            }
        }
        try (Stream<Path> all = Files.list(parent)) {
            assertThat(all.map(each -> each.getFileName().toString()))
                    .containsExactlyInAnyOrder("puri-search-notes", "puri-resolver-1", "puri-resolver-1.lock");
        }
    }
}
