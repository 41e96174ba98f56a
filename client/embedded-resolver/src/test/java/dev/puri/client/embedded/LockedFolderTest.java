package dev.puri.client.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LockedFolderTest {
    @TempDir
    private Path folder;

    /** Whether another process could lock the folder. */
    private boolean isFree() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        folder.resolve("resolver.lock").toString())
                .inheritIO()
                .start();
        return child.waitFor() == 0;
    }

    static final class Child {
        public static void main(String[] arguments) throws Exception {
            try (FileChannel lock = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE)) {
                System.exit(lock.tryLock() == null ? 1 : 0);
            }
        }
    }

    @Test
    void aRefusedSecondOpenKeepsTheLockOfTheFirst() throws Exception {
        try (LockedFolder first = LockedFolder.open(folder)) {
            assertThatThrownBy(() -> LockedFolder.open(folder))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll(folder.toString(), "used by another resolver");
            assertThat(first.path()).isEqualTo(folder.toRealPath());
            assertThat(isFree()).isFalse();
        }
        assertThat(isFree()).isTrue();
        LockedFolder.open(folder).close();
    }

    @Test
    void aRefusedOpenKeepsTheLockOfAnotherClassLoader() throws Exception {
        try (FileChannel other = FileChannel.open(
                folder.resolve("resolver.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            assertThat(other.tryLock()).isNotNull();
            assertThatThrownBy(() -> LockedFolder.open(folder)).isInstanceOf(IllegalStateException.class);
            assertThat(isFree()).isFalse();
        }
        LockedFolder.open(folder).close();
    }

    @Test
    void aSecondCloseDoesNotReleaseTheNextLock() throws Exception {
        LockedFolder first = LockedFolder.open(folder);
        first.close();
        try (LockedFolder second = LockedFolder.open(folder)) {
            first.close();
            assertThatThrownBy(() -> LockedFolder.open(folder)).isInstanceOf(IllegalStateException.class);
            assertThat(second).isNotNull();
        }
    }

    @Test
    void aFolderWithTwoPathsIsLockedOnce() throws Exception {
        Path link = folder.resolveSibling(folder.getFileName() + "-link");
        Files.createSymbolicLink(link, folder);
        try (LockedFolder first = LockedFolder.open(folder)) {
            assertThatThrownBy(() -> LockedFolder.open(link)).isInstanceOf(IllegalStateException.class);
            assertThat(first).isNotNull();
        } finally {
            Files.delete(link);
        }
    }
}
