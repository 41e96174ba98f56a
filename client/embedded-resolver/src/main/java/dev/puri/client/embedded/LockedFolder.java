package dev.puri.client.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a resolver, locked by a file. Two resolvers in one folder would overwrite each other's snapshots.
 *
 * @param path the real path, without symbolic links
 * @param lockFile the locked file. The kernel releases the lock when the process ends
 */
record LockedFolder(Path path, FileChannel lockFile) implements AutoCloseable {
    private static final String LOCK_FILE = "resolver.lock";

    /**
     * The folders that resolvers of this class loader use. A lock file must not be opened a second time: closing any
     * channel of a file may release all locks of the process on the file.
     */
    private static final Set<Path> OPEN_FOLDERS = ConcurrentHashMap.newKeySet();

    /** Channels of files that another class loader has locked. They stay open for the same reason. */
    private static final Set<FileChannel> REFUSED_FILES = ConcurrentHashMap.newKeySet();

    /** Creates a folder if it does not exist. Returns why the folder cannot be used, or null if it can be used. */
    static @Nullable String createIfMissing(Path path) {
        try {
            Files.createDirectories(path);
            return Files.isWritable(path) ? null : "stateDir: " + path + " is not writable";
        } catch (IOException e) {
            return "stateDir: " + path + " cannot be created: " + e;
        }
    }

    /**
     * Creates a folder if it does not exist, and locks it.
     *
     * @throws IllegalStateException if another resolver has locked the folder
     * @throws UncheckedIOException if the folder cannot be written or locked
     */
    static LockedFolder open(Path path) {
        try {
            Files.createDirectories(path);
            Path realPath = path.toRealPath();
            FileChannel lockFile = OPEN_FOLDERS.add(realPath) ? lock(realPath) : null;
            if (lockFile == null) {
                throw new IllegalStateException(
                        "stateDir " + path + " is used by another resolver; each resolver needs its own folder");
            }
            return new LockedFolder(realPath, lockFile);
        } catch (IOException e) {
            throw new UncheckedIOException("stateDir " + path + " cannot be used: " + e, e);
        }
    }

    /** Returns the locked file; null if another process or class loader has locked it. */
    private static @Nullable FileChannel lock(Path realPath) throws IOException {
        FileChannel lockFile = null;
        boolean isLocked = false;
        try {
            lockFile =
                    FileChannel.open(realPath.resolve(LOCK_FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            isLocked = lockFile.tryLock() != null;
            return isLocked ? lockFile : null;
        } catch (OverlappingFileLockException e) {
            REFUSED_FILES.add(Objects.requireNonNull(lockFile));
            lockFile = null;
            return null;
        } finally {
            if (!isLocked) {
                OPEN_FOLDERS.remove(realPath);
                if (lockFile != null) {
                    lockFile.close();
                }
            }
        }
    }

    @Override
    public void close() {
        if (!lockFile.isOpen()) {
            return;
        }
        try {
            lockFile.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the lock of " + path + " cannot be released", e);
        } finally {
            OPEN_FOLDERS.remove(path);
        }
    }
}
