package dev.puri.cli.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/** Lets no other process or thread work in a folder until it is closed, or this process ends. */
public final class FolderLock implements AutoCloseable {
    /** The name of the locked file. It is not deleted, because another process may have opened it. */
    public static final String FILE = "lock";

    private final FileChannel channel;

    private FolderLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Locks an existing folder.
     *
     * @return null if the folder is locked
     */
    public static @Nullable FolderLock tryLock(Path folder) throws IOException {
        FileChannel channel =
                FileChannel.open(folder.resolve(FILE), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        boolean isLocked = false;
        try {
            isLocked = channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            // Another thread of this process has it.
        } finally {
            if (!isLocked) {
                channel.close();
            }
        }
        return isLocked ? new FolderLock(channel) : null;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
