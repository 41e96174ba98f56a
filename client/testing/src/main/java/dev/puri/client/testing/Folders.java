package dev.puri.client.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Lists and deletes the folders that this library makes. Other processes may change them at the same time. */
final class Folders {
    private Folders() {}

    /** Deletes a folder with its content. */
    static void delete(Path folder) throws IOException {
        List<Path> deepestFirst;
        try (Stream<Path> all = Files.walk(folder)) {
            deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (Path each : deepestFirst) {
            Files.deleteIfExists(each);
        }
    }

    /** Deletes a folder if that succeeds. Another process may use it or delete it too, so a failure is left to a later run. */
    static void tryDelete(Path folder) {
        try {
            delete(folder);
        } catch (IOException e) {
            // A later clean-up tries again.
        }
    }

    /** Lists the subfolders whose names match, without links. Empty if the folder cannot be read. */
    static List<Path> named(Pattern name, Path parent) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(parent)) {
            for (Path child : children) {
                if (name.matcher(String.valueOf(child.getFileName())).matches()
                        && Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    found.add(child);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        return found;
    }

    /** When a folder was last modified; now if it is gone or cannot be read, so that it counts as new. */
    static Instant lastChanged(Path folder, Instant now) {
        try {
            return Files.getLastModifiedTime(folder).toInstant();
        } catch (IOException e) {
            return now;
        }
    }
}
