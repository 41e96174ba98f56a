package dev.puri.cli;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/** Ends a command with a message for the user. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitStatus;

    private CommandException(int exitStatus, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitStatus = exitStatus;
    }

    /** The command failed. */
    static CommandException failed(@Nullable String message, @Nullable Throwable cause) {
        return new CommandException(ExitStatus.FAILED, message, cause);
    }

    /** The command line or a setting is wrong. */
    static CommandException usage(@Nullable String message) {
        return new CommandException(ExitStatus.USAGE, message, null);
    }

    /** A file cannot be read. */
    static CommandException unreadable(String file, IOException e) {
        String why = switch (e) {
            case NoSuchFileException missing -> "no such file";
            case AccessDeniedException denied -> "permission denied";
            default -> String.valueOf(e.getMessage());
        };
        return failed("the file " + file + " cannot be read: " + why, e);
    }

    int exitStatus() {
        return exitStatus;
    }
}
