package dev.puri.client.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The folder of a resolver, locked by a file. Two resolvers in one folder would overwrite each other's snapshots.
 *
 * @param lock the locked file. The kernel releases the lock when the process ends
 */
record LockedFolder(Path path, FileChannel lock) implements AutoCloseable {
    private static final String LOCK_FILE = "resolver.lock";

    /** Creates a folder if it does not exist. Returns why the folder cannot be used, or null if it can be used. */
    static @Nullable String flaw(Path path) {
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
     * @throws UncheckedIOException if the folder cannot be written
     */
    static LockedFolder open(Path path) {
        try {
            Files.createDirectories(path);
            FileChannel lock =
                    FileChannel.open(path.resolve(LOCK_FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (isLockedByOther(lock)) {
                lock.close();
                throw new IllegalStateException(
                        "stateDir " + path + " is used by another resolver; each resolver needs its own folder");
            }
            return new LockedFolder(path, lock);
        } catch (IOException e) {
            throw new UncheckedIOException("stateDir " + path + " cannot be used: " + e, e);
        }
    }

    private static boolean isLockedByOther(FileChannel lock) throws IOException {
        try {
            return lock.tryLock() == null;
        } catch (OverlappingFileLockException e) {
            // Another resolver in this process holds the lock.
            return true;
        }
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the lock of " + path + " cannot be released", e);
        }
    }
}
