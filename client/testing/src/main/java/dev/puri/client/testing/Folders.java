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

/** Lists and deletes folders that this library created. Other processes may change the folders at the same time. */
final class Folders {
    private Folders() {}

    /**
     * Tries to delete a folder and its content. Ignores a failure, because another process may be using or deleting the
     * folder.
     */
    static void tryDelete(Path folder) {
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException | UncheckedIOException e) {
            // A later clean-up tries again.
        }
    }

    /**
     * Returns the subfolders whose names match, without symbolic links. Returns an empty list if the folder cannot be
     * read.
     */
    static List<Path> named(Pattern name, Path parent) {
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(parent)) {
            for (Path child : children) {
                if (name.matcher(String.valueOf(child.getFileName())).matches()
                        && Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
                    folders.add(child);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        return folders;
    }

    /**
     * Returns the time of a folder's last modification. Returns {@code now} if the folder is missing or cannot be read,
     * so that it counts as new.
     */
    static Instant lastChanged(Path folder, Instant now) {
        try {
            return Files.getLastModifiedTime(folder).toInstant();
        } catch (IOException e) {
            return now;
        }
    }
}
