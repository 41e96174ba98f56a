package dev.puri.search.index;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** Files and folders that only their owner reads, where the platform can tell owners apart. */
public final class OwnerOnly {
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private OwnerOnly() {}

    /** Makes an empty file that is not there yet, mode 0600. */
    public static void create(Path file) throws IOException {
        Files.createFile(file, mode("rw-------"));
    }

    /** Makes a folder and those above it that are missing, mode 0700. */
    public static void createFolder(Path folder) throws IOException {
        Files.createDirectories(folder, mode("rwx------"));
    }

    /** Makes a file that is there mode 0600. */
    public static void restrict(Path file) throws IOException {
        if (POSIX) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
    }

    private static FileAttribute<?>[] mode(String mode) {
        return POSIX
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))}
                : new FileAttribute<?>[0];
    }
}
