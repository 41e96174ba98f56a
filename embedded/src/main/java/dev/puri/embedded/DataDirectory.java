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

/** A directory that is locked for one process; the operating system releases the lock when the process ends. */
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
     * @param what the directory's user, for messages
     * @throws EmbeddedException if it is in use or cannot be written
     */
    static DataDirectory lock(Path path, String what) {
        Path directory = path.toAbsolutePath().normalize();
        FileChannel channel = open(directory, what);
        @Nullable FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            // This process has locked it already; the message below is the same.
        } catch (IOException e) {
            throw unusable(directory, what, e);
        } finally {
            if (lock == null) {
                close(channel);
            }
        }
        if (lock == null) {
            throw new EmbeddedException("the data directory of " + what + ", " + directory
                    + ", is in use by another process; stop that one or choose another directory");
        }
        return new DataDirectory(directory, channel);
    }

    private static FileChannel open(Path directory, String what) {
        try {
            Files.createDirectories(directory);
            return FileChannel.open(
                    directory.resolve("puri.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw unusable(directory, what, e);
        }
    }

    private static EmbeddedException unusable(Path directory, String what, IOException e) {
        return new EmbeddedException("the data directory of " + what + ", " + directory + ", cannot be used: " + e, e);
    }

    Path resolve(String name) {
        return path.resolve(name);
    }

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
