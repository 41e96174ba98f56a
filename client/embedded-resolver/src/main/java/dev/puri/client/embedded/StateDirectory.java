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
 * A folder that one resolver uses at a time: two would overwrite each other's snapshots.
 *
 * @param lock the lock file; the kernel releases its lock when the process ends
 */
record StateDirectory(Path path, FileChannel lock) implements AutoCloseable {
    private static final String LOCK = "resolver.lock";

    /** Creates a folder if it does not exist. Returns why it cannot be used; null if it can. */
    static @Nullable String flaw(Path path) {
        try {
            Files.createDirectories(path);
            return Files.isWritable(path) ? null : "stateDir: " + path + " is not writable";
        } catch (IOException e) {
            return "stateDir: " + path + " cannot be created: " + e;
        }
    }

    /**
     * Locks a folder, and creates it if it does not exist.
     *
     * @throws IllegalStateException if another resolver uses it
     * @throws UncheckedIOException if it cannot be written
     */
    static StateDirectory take(Path path) {
        try {
            Files.createDirectories(path);
            FileChannel lock =
                    FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (isTaken(lock)) {
                lock.close();
                throw new IllegalStateException(
                        "stateDir " + path + " is used by another resolver; each needs a folder of its own");
            }
            return new StateDirectory(path, lock);
        } catch (IOException e) {
            throw new UncheckedIOException("stateDir " + path + " cannot be used: " + e, e);
        }
    }

    private static boolean isTaken(FileChannel lock) throws IOException {
        try {
            return lock.tryLock() == null;
        } catch (OverlappingFileLockException e) {
            // This process holds the lock.
            return true;
        }
    }

    @Override
    public void close() {
        try {
            lock.close();
        } catch (IOException e) {
            throw new UncheckedIOException("the lock of " + path + " cannot be given back", e);
        }
    }
}
