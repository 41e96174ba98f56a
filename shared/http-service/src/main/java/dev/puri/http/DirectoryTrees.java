package dev.puri.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Operations on directories with all their files. */
public final class DirectoryTrees {
    private DirectoryTrees() {}

    /**
     * Deletes a directory and all files in it, if it exists.
     *
     * @throws IOException if a file cannot be deleted
     */
    public static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
