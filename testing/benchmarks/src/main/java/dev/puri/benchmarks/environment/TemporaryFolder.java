package dev.puri.benchmarks.environment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

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
        if (Files.notExists(folder)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + folder, e);
        }
    }
}
