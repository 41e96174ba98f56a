package dev.puri.client.testing;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Folders that tests leave behind. */
final class Folders {
    private Folders() {}

    /** Deletes a folder with all that is in it. */
    static void delete(Path folder) throws IOException {
        List<Path> deepestFirst;
        try (Stream<Path> all = Files.walk(folder)) {
            deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : deepestFirst) {
            Files.deleteIfExists(each);
        }
    }

    /** Deletes the folders of this pattern in a folder that were last changed before a time. */
    static void deleteOlder(Path parent, String pattern, Instant before) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, pattern)) {
            for (Path folder : folders) {
                if (Files.isDirectory(folder)
                        && Files.getLastModifiedTime(folder).toInstant().isBefore(before)) {
                    delete(folder);
                }
            }
        }
    }
}
