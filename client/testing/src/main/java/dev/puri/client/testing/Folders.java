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

    /** Deletes a folder with all that is in it. */
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

    /** Deletes a folder, or leaves it to a later run when that fails: another process may use it or delete it too. */
    static void tryDelete(Path folder) {
        try {
            delete(folder);
        } catch (IOException e) {
            // A later clean-up tries again.
        }
    }

    /** The folders in a folder whose names match; links are left out. Empty when it cannot be read. */
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

    /** When a folder was changed last; now if it is gone or cannot be read, so that it counts as new. */
    static Instant lastChanged(Path folder, Instant now) {
        try {
            return Files.getLastModifiedTime(folder).toInstant();
        } catch (IOException e) {
            return now;
        }
    }
}
