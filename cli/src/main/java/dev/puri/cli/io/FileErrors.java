package dev.puri.cli.io;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Describes failures of files for people. */
public final class FileErrors {
    private FileErrors() {}

    /** Returns the reason of a failure. Some messages of the JDK are missing, or are only the name of the file. */
    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> "no such file";
            case AccessDeniedException denied -> "permission denied";
            case CharacterCodingException malformed -> "not UTF-8 text";
            case FileSystemException other ->
                other.getReason() == null ? other.getClass().getSimpleName() : other.getReason();
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
