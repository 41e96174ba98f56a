package dev.puri.cli;

import org.jspecify.annotations.Nullable;

/** Ends a command with a message for the person who typed it. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitStatus;

    private CommandException(int exitStatus, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitStatus = exitStatus;
    }

    /** What was asked for could not be done. */
    static CommandException failed(@Nullable String message, @Nullable Throwable cause) {
        return new CommandException(ExitStatus.FAILED, message, cause);
    }

    /** What was typed, or set, is wrong. */
    static CommandException usage(@Nullable String message) {
        return new CommandException(ExitStatus.USAGE, message, null);
    }

    /** What was given as input is wrong. */
    static CommandException badInput(@Nullable String message) {
        return new CommandException(ExitStatus.PARTLY, message, null);
    }

    int exitStatus() {
        return exitStatus;
    }
}
