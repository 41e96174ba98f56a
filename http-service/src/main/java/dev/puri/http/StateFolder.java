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
 * Where a server keeps what it need not read again: the folder of {@code PURI_STATE_DIR}, or one of its own
 * that goes with it. A server that is killed leaves its own; the next one on the machine removes it.
 *
 * @param path need not be there yet
 * @param isTemporary whether it goes when it is closed
 * @param lock tells others that somebody uses a temporary one; null for one that was set, or where none can be made
 */
public record StateFolder(
        Path path, boolean isTemporary, @Nullable FileChannel lock) implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(StateFolder.class);
    private static final String LOCK = ".lock";

    /** Folders of this process: to close a file that it has locked elsewhere would end the lock. */
    private static final Set<Path> OURS = ConcurrentHashMap.newKeySet();

    /**
     * The folder that was set, or a temporary one.
     *
     * @param server in the temporary one's name
     */
    public static StateFolder of(Optional<Path> set, String server) {
        return set.map(path -> new StateFolder(path, false, null))
                .orElseGet(() -> temporary(Path.of(System.getProperty("java.io.tmpdir")), "puri-" + server + "-"));
    }

    static StateFolder temporary(Path parent, String prefix) {
        removeLeftOver(parent, prefix);
        Path path = parent.resolve(prefix + UUID.randomUUID());
        OURS.add(path);
        try {
            FileChannel lock = FileChannel.open(
                    path.resolveSibling(path.getFileName() + LOCK),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE);
            lock.lock();
            return new StateFolder(path, true, lock);
        } catch (IOException e) {
            // Whoever needs the folder will say so; not everybody does.
            log.debug("Nothing can be kept in {}", parent, e);
            return new StateFolder(path, true, null);
        }
    }

    /** The system ends a process's locks with it. */
    private static void removeLeftOver(Path parent, String prefix) {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(parent, prefix + "*" + LOCK)) {
            for (Path lock : locks) {
                String name = lock.getFileName().toString();
                Path folder = parent.resolve(name.substring(0, name.length() - LOCK.length()));
                if (!OURS.contains(folder)) {
                    removeUnused(folder, lock);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            log.debug("What killed servers left in {} cannot be found", parent, e);
        }
    }

    private static void removeUnused(Path folder, Path lock) {
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
            if (channel.tryLock() != null) {
                delete(folder);
                Files.delete(lock);
            }
        } catch (IOException e) {
            log.debug("{} is somebody else's", lock, e);
        }
    }

    /**
     * To be asked where settings are read: later, whoever needs it could but try again.
     *
     * @throws IllegalArgumentException when nothing can be kept there
     */
    public static void requireUsable(Path folder) {
        Path there = folder.toAbsolutePath();
        while (there != null && !Files.exists(there)) {
            there = there.getParent();
        }
        if (there == null || !Files.isDirectory(there)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + there + " is no folder");
        }
        if (!Files.isWritable(there)) {
            throw new IllegalArgumentException("PURI_STATE_DIR: " + there + " cannot be written to");
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
            OURS.remove(path);
        } catch (IOException e) {
            log.warn("{} cannot be deleted: {}", path, e.toString());
        }
    }
}
