package dev.puri.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** A directory that one process has locked. The operating system releases the lock when the process ends. */
final class DataDirectory implements AutoCloseable {
    private final Path path;
    private final FileChannel channel;

    private DataDirectory(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /**
     * Creates the directory if needed, and locks it.
     *
     * @param user the server that uses the directory, for messages
     * @throws EmbeddedException if the directory is in use or cannot be written
     */
    static DataDirectory lock(Path path, String user) {
        Path directory = path.toAbsolutePath().normalize();
        FileChannel channel = openLockFile(directory, user);
        @Nullable FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // This process has locked the directory already. The message below covers this case too.
        } catch (IOException e) {
            throw unusable(directory, user, e);
        } finally {
            if (lock == null) {
                close(channel);
            }
        }
        if (lock == null) {
            throw new EmbeddedException("the data directory of " + user + ", " + directory
                    + ", is in use by another process; stop that process or choose another directory");
        }
        return new DataDirectory(directory, channel);
    }

    private static FileChannel openLockFile(Path directory, String user) {
        try {
            Files.createDirectories(directory);
            return FileChannel.open(
                    directory.resolve("puri.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw unusable(directory, user, e);
        }
    }

    private static EmbeddedException unusable(Path directory, String user, IOException e) {
        return new EmbeddedException("the data directory of " + user + ", " + directory + ", cannot be used: " + e, e);
    }

    /** Returns the absolute path of the directory. */
    Path path() {
        return path;
    }

    Path resolve(String name) {
        return path.resolve(name);
    }

    /** Releases the lock. */
    @Override
    public void close() {
        close(channel);
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
