package dev.puri.http;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory of a server's local state: {@code PURI_STATE_DIR}, or a temporary directory that is deleted on close.
 * The temporary directory of a killed server is deleted by the next one on the machine.
 *
 * @param path may not exist yet
 * @param isTemporary whether it is deleted on close
 * @param lock marks a temporary directory as in use; null for a configured one, or if locking failed
 */
public record StateFolder(
        Path path, boolean isTemporary, @Nullable FileChannel lock) implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StateFolder.class);
    private static final String LOCK = ".lock";

    /** Temporary directories of this process. Opening and closing their lock files would release the locks. */
    private static final Set<Path> OF_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    /**
     * Returns the configured directory, or a temporary one.
     *
     * @param server part of the temporary directory's name
     */
    public static StateFolder of(Optional<Path> set, String server) {
        return set.map(path -> new StateFolder(path, false, null))
                .orElseGet(() -> temporary(Path.of(System.getProperty("java.io.tmpdir")), "puri-" + server + "-"));
    }

    static StateFolder temporary(Path parent, String prefix) {
        removeLeftOver(parent, prefix);
        Path path = parent.resolve(prefix + UUID.randomUUID());
        OF_THIS_PROCESS.add(path);
        try {
            FileChannel lock = FileChannel.open(
                    path.resolveSibling(path.getFileName() + LOCK),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE);
            lock.lock();
            return new StateFolder(path, true, lock);
        } catch (IOException e) {
            // Not every server writes state; those that do will report the error.
            log.debug("No lock can be created in {}", parent, e);
            return new StateFolder(path, true, null);
        }
    }

    /** Deletes directories without a lock; the operating system releases the locks of a killed process. */
    private static void removeLeftOver(Path parent, String prefix) {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(parent, prefix + "*" + LOCK)) {
            for (Path lock : locks) {
                String name = lock.getFileName().toString();
                Path folder = parent.resolve(name.substring(0, name.length() - LOCK.length()));
                if (!OF_THIS_PROCESS.contains(folder)) {
                    removeUnused(folder, lock);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            log.debug("Directories of killed servers in {} cannot be listed", parent, e);
        }
    }

    private static void removeUnused(Path folder, Path lock) {
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
            if (channel.tryLock() != null) {
                delete(folder);
                Files.delete(lock);
            }
        } catch (IOException e) {
            log.debug("{} belongs to another user", lock, e);
        }
    }

    /**
     * Checks a configured directory while settings are read, because later the server could only retry.
     *
     * @throws IllegalArgumentException if the directory cannot be created or written to
     */
    public static void requireUsable(Path folder) {
        Path existing = folder.toAbsolutePath();
        while (existing != null && !Files.exists(existing)) {
            existing = existing.getParent();
        }
        if (existing == null || !Files.isDirectory(existing)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + existing + " is no folder");
        }
        if (!Files.isWritable(existing)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + existing + " cannot be written to");
        }
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Override
    public void close() {
        if (!isTemporary) {
            return;
        }
        try {
            delete(path);
            if (lock != null) {
                Files.deleteIfExists(path.resolveSibling(path.getFileName() + LOCK));
                lock.close();
            }
            OF_THIS_PROCESS.remove(path);
        } catch (IOException e) {
            log.warn("{} cannot be deleted: {}", path, e.toString());
        }
    }
}
