package dev.puri.client.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Creates and deletes the temporary folders with the data of registries for tests. A registry ends after the JVM of its
 * tests, so this JVM cannot delete the data. The next registry that starts on the machine deletes the data.
 *
 * <p>The broker and the schema registry each lock a file in their directory while they run. When they end, also after a
 * kill, the kernel releases the lock. Unlike a process id, a lock is also visible in other containers that share the
 * folder.
 */
final class DataFolders {
    private static final String PREFIX = "puri-testing-data-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "\\d+");

    /** The lock file of {@code DataDirectory} in {@code embedded}. */
    private static final String LOCK_FILE = "puri.lock";

    /** Depth of the lock files below {@code data}: the broker and the schema registry each have their own directory. */
    private static final int LOCK_DEPTH = 2;

    /** A younger folder is kept, because a starting registry creates its lock files shortly before it locks them. */
    private static final Duration MIN_AGE = Duration.ofMinutes(1);

    /** A younger folder without lock files is kept, because its registry may still be starting. */
    private static final Duration MIN_AGE_WITHOUT_LOCK = Duration.ofDays(1);

    private DataFolders() {}

    /** Creates a folder, and deletes the folders of registries that have ended. */
    static Path create() throws IOException {
        Path folder = Files.createTempDirectory(PREFIX).toAbsolutePath();
        deleteEnded(Objects.requireNonNull(folder.getParent()), Files.getOwner(folder), Instant.now());
        return folder;
    }

    /** Returns the subfolder in which the registry stores its data. */
    static Path data(Path folder) {
        return folder.resolve("data");
    }

    /**
     * Deletes the folders that belong to this owner and whose registries have ended. Ignores folders that cannot be
     * deleted.
     */
    static void deleteEnded(Path parent, UserPrincipal owner, Instant now) {
        for (Path folder : Folders.named(NAME, parent)) {
            try {
                if (Files.getOwner(folder).equals(owner) && hasEnded(folder, now)) {
                    Folders.tryDelete(folder);
                }
            } catch (IOException | UncheckedIOException e) {
                // Another JVM is deleting the folder, or the folder cannot be read. A later start tries again.
            }
        }
    }

    private static boolean hasEnded(Path folder, Instant now) throws IOException {
        Instant changed = Folders.lastChanged(folder, now);
        if (!changed.isBefore(now.minus(MIN_AGE))) {
            return false;
        }
        List<Path> lockFiles = lockFiles(data(folder));
        return lockFiles.isEmpty()
                ? changed.isBefore(now.minus(MIN_AGE_WITHOUT_LOCK))
                : lockFiles.stream().noneMatch(DataFolders::isLocked);
    }

    private static List<Path> lockFiles(Path data) throws IOException {
        if (!Files.isDirectory(data)) {
            return List.of();
        }
        try (Stream<Path> files = Files.find(data, LOCK_DEPTH, (file, attributes) -> file.endsWith(LOCK_FILE))) {
            return files.toList();
        }
    }

    private static boolean isLocked(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            return lock == null;
        } catch (IOException | OverlappingFileLockException e) {
            // The lock cannot be checked, so the data is kept.
            return true;
        }
    }
}
