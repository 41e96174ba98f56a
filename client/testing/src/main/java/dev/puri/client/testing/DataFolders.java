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
 * The temporary folders with the data of registries for tests. A registry ends after the JVM of its tests, so that JVM cannot delete the
 * data; the next start on the machine does.
 *
 * <p>The broker and the schema registry lock a file in their directories while they run. The kernel releases the lock however they end.
 * Unlike a process id, a lock is also visible to other containers that share the folder.
 */
final class DataFolders {
    private static final String PREFIX = "puri-testing-data-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "\\d+");

    /** The lock file of {@code DataDirectory} in {@code embedded}. */
    private static final String LOCK = "puri.lock";

    /** Depth of the lock files below {@code data}: each part has a directory of its own. */
    private static final int LOCK_DEPTH = 2;

    /** Age below which a folder is kept, because a starting registry creates its lock files a moment before it locks them. */
    private static final Duration STARTS_WITHIN = Duration.ofMinutes(1);

    /** Age below which a folder without lock files is kept, because its registry may be starting slowly. */
    private static final Duration KEPT_WITHOUT_LOCK = Duration.ofDays(1);

    private DataFolders() {}

    /** Creates a folder, and deletes the folders of registries that have ended. */
    static Path create() throws IOException {
        Path folder = Files.createTempDirectory(PREFIX).toAbsolutePath();
        deleteEnded(Objects.requireNonNull(folder.getParent()), Files.getOwner(folder), Instant.now());
        return folder;
    }

    /** The directory below a folder in which the registry keeps its data. */
    static Path data(Path folder) {
        return folder.resolve("data");
    }

    /** Deletes the folders of one owner whose registries have ended; leaves a folder that it cannot delete. */
    static void deleteEnded(Path parent, UserPrincipal owner, Instant now) {
        for (Path folder : Folders.named(NAME, parent)) {
            try {
                if (Files.getOwner(folder).equals(owner) && hasEnded(folder, now)) {
                    Folders.tryDelete(folder);
                }
            } catch (IOException | UncheckedIOException e) {
                // Another JVM deletes it, or it cannot be read. A later start tries again.
            }
        }
    }

    private static boolean hasEnded(Path folder, Instant now) throws IOException {
        Instant changed = Folders.lastChanged(folder, now);
        if (!changed.isBefore(now.minus(STARTS_WITHIN))) {
            return false;
        }
        List<Path> locks = locks(data(folder));
        return locks.isEmpty()
                ? changed.isBefore(now.minus(KEPT_WITHOUT_LOCK))
                : locks.stream().noneMatch(DataFolders::isHeld);
    }

    private static List<Path> locks(Path data) throws IOException {
        if (!Files.isDirectory(data)) {
            return List.of();
        }
        try (Stream<Path> found = Files.find(data, LOCK_DEPTH, (file, attributes) -> file.endsWith(LOCK))) {
            return found.toList();
        }
    }

    private static boolean isHeld(Path file) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE);
                FileLock lock = channel.tryLock()) {
            return lock == null;
        } catch (IOException | OverlappingFileLockException e) {
            // The lock cannot be checked, so the data is kept.
            return true;
        }
    }
}
