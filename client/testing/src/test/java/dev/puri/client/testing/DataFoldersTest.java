package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFoldersTest {
    private static final Instant NOW = Instant.parse("2026-02-03T04:05:06Z");
    private static final Duration HOURS = Duration.ofHours(2);

    @TempDir
    private Path parent;

    private Path made(String name, Duration age, boolean hasLock) throws IOException {
        Path made = Files.createDirectory(parent.resolve(name));
        Path broker = Files.createDirectories(DataFolders.data(made).resolve("kafka"));
        if (hasLock) {
            Files.createFile(broker.resolve("puri.lock"));
        }
        Files.setLastModifiedTime(made, FileTime.from(NOW.minus(age)));
        return made;
    }

    private void deleteEnded() throws IOException {
        DataFolders.deleteEnded(parent, Files.getOwner(parent), NOW);
    }

    @Test
    void dataIsDeletedWhenItsRegistryHasEnded() throws IOException {
        Path ended = made("puri-testing-data-1", HOURS, true);
        Path starts = made("puri-testing-data-2", Duration.ofSeconds(10), true);
        deleteEnded();
        assertThat(ended).doesNotExist();
        assertThat(starts).exists();
    }

    @Test
    void dataOfARegistryThatRunsIsKeptHoweverOldItIs() throws IOException {
        Path runs = made("puri-testing-data-1", Duration.ofDays(99), true);
        Path file = DataFolders.data(runs).resolve("kafka/puri.lock");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            assertThat(lock.isValid()).isTrue();
            deleteEnded();
            assertThat(file).exists();
        }
        deleteEnded();
        assertThat(runs).doesNotExist();
    }

    @Test
    void dataOfAStartThatFailedIsDeletedAfterADay() throws IOException {
        Path slow = made("puri-testing-data-1", HOURS, false);
        Path failed = made("puri-testing-data-2", Duration.ofDays(2), false);
        deleteEnded();
        assertThat(slow).exists();
        assertThat(failed).doesNotExist();
    }

    @Test
    void foldersOfOthersAreKept() throws IOException {
        Path named = made("puri-testing-data-mine", Duration.ofDays(99), true);
        Path owned = made("puri-testing-data-1", Duration.ofDays(99), true);
        UserPrincipal other = () -> "somebody else";
        DataFolders.deleteEnded(parent, other, NOW);
        assertThat(owned).exists();

        deleteEnded();
        assertThat(named).exists();
        assertThat(owned).doesNotExist();
    }
}
