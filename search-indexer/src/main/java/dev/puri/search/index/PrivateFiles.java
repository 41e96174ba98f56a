package dev.puri.search.index;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Creates files and folders that only the user of this process can read. Without POSIX permissions, the platform's
 * default permissions apply.
 */
public final class PrivateFiles {
    private static final boolean POSIX =
            FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

    private PrivateFiles() {}

    /** Creates an empty file with mode 0600. The file must not exist. */
    public static void createFile(Path file) throws IOException {
        Files.createFile(file, permissions("rw-------"));
    }

    /** Creates a folder and its missing parents with mode 0700. */
    public static void createFolder(Path folder) throws IOException {
        Files.createDirectories(folder, permissions("rwx------"));
    }

    /** Sets the mode of an existing file to 0600. */
    public static void restrict(Path file) throws IOException {
        if (POSIX) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        }
    }

    private static FileAttribute<?>[] permissions(String mode) {
        return POSIX
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))}
                : new FileAttribute<?>[0];
    }
}
