package dev.puri.benchmarks.environment;

import dev.puri.http.DirectoryTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder that {@link #close} deletes. */
public record TemporaryFolder(Path path) implements AutoCloseable {
    /** Creates an empty folder. */
    public static TemporaryFolder create() {
        try {
            return new TemporaryFolder(Files.createTempDirectory("puri-bench"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        delete(path);
    }

    /** Deletes a folder and all files in it, if it exists. */
    public static void delete(Path folder) {
        try {
            DirectoryTrees.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + folder, e);
        }
    }
}
