package dev.puri.http;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a server's local state: {@code PURI_STATE_DIR}, or a temporary directory that is deleted on close.
 * The temporary directory of a killed server is deleted when the next server with the same name starts on the
 * machine.
 *
 * @param path the directory, which may not exist yet
 * @param isTemporary whether the directory is deleted on close
 * @param lock marks a temporary directory as in use; null for a configured directory, or if locking failed
 */
public record StateDirectory(
        Path path, boolean isTemporary, @Nullable FileChannel lock) implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StateDirectory.class);
    private static final String LOCK_SUFFIX = ".lock";

    /**
     * The temporary directories of this process. Their lock files must not be opened a second time: closing any channel
     * of a file may release all locks of the process on the file.
     */
    private static final Set<Path> DIRECTORIES_OF_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    /**
     * Returns the configured directory, or a temporary directory.
     *
     * @param configured the setting
     * @param server the name of the server, a part of the temporary directory's name
     */
    public static StateDirectory of(Optional<Path> configured, String server) {
        return configured
                .map(path -> new StateDirectory(path, false, null))
                .orElseGet(() -> temporary(Path.of(System.getProperty("java.io.tmpdir")), "puri-" + server + "-"));
    }

    static StateDirectory temporary(Path parent, String prefix) {
        deleteAbandoned(parent, prefix);
        Path path = parent.resolve(prefix + UUID.randomUUID());
        DIRECTORIES_OF_THIS_PROCESS.add(path);
        try {
            FileChannel lock = FileChannel.open(
                    path.resolveSibling(path.getFileName() + LOCK_SUFFIX),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE);
            lock.lock();
            return new StateDirectory(path, true, lock);
        } catch (IOException e) {
            // Not every server writes state. A server that does will report the error.
            log.debug("Cannot create a lock in {}", parent, e);
            return new StateDirectory(path, true, null);
        }
    }

    /**
     * Deletes the directories whose lock file no process holds. The operating system releases the locks of a killed
     * process.
     */
    private static void deleteAbandoned(Path parent, String prefix) {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(parent, prefix + "*" + LOCK_SUFFIX)) {
            for (Path lock : locks) {
                String name = lock.getFileName().toString();
                Path directory = parent.resolve(name.substring(0, name.length() - LOCK_SUFFIX.length()));
                if (!DIRECTORIES_OF_THIS_PROCESS.contains(directory)) {
                    deleteIfUnlocked(directory, lock);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            log.debug("Cannot list the directories of killed servers in {}", parent, e);
        }
    }

    private static void deleteIfUnlocked(Path directory, Path lock) {
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
            if (channel.tryLock() != null) {
                DirectoryTrees.delete(directory);
                Files.delete(lock);
            }
        } catch (IOException e) {
            log.debug("Cannot delete {} and its directory; they may belong to another user", lock, e);
        }
    }

    /**
     * Checks a configured directory. Called when settings are read. Otherwise a server with an unusable directory would
     * start and then retry for ever.
     *
     * @throws IllegalArgumentException if the directory cannot be created or written to
     */
    public static void requireUsable(Path directory) {
        Path ancestor = directory.toAbsolutePath();
        while (ancestor != null && !Files.exists(ancestor)) {
            ancestor = ancestor.getParent();
        }
        if (ancestor == null || !Files.isDirectory(ancestor)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + ancestor + " is not a directory");
        }
        if (!Files.isWritable(ancestor)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + ancestor + " cannot be written to");
        }
    }

    @Override
    public void close() {
        if (!isTemporary) {
            return;
        }
        try {
            DirectoryTrees.delete(path);
            if (lock != null) {
                Files.deleteIfExists(path.resolveSibling(path.getFileName() + LOCK_SUFFIX));
                lock.close();
            }
            DIRECTORIES_OF_THIS_PROCESS.remove(path);
        } catch (IOException e) {
            log.warn("{} cannot be deleted: {}", path, e.toString());
        }
    }
}
