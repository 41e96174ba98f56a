package dev.puri.cli;

import dev.puri.cli.io.FileErrors;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Thrown to end a command with a message for the user and an exit status. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitStatus;

    private CommandException(int exitStatus, @Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitStatus = exitStatus;
    }

    /** Creates an exception for a command that failed. */
    static CommandException failed(String message) {
        return failed(message, null);
    }

    /** Creates an exception for a command that failed because of another exception. */
    static CommandException failed(@Nullable String message, @Nullable Throwable cause) {
        return new CommandException(ExitStatus.FAILED, message, cause);
    }

    /** Creates an exception for a wrong command line or setting. */
    static CommandException usage(String message) {
        return usage(message, null);
    }

    /** Creates an exception for a wrong command line or setting that caused another exception. */
    static CommandException usage(@Nullable String message, @Nullable Throwable cause) {
        return new CommandException(ExitStatus.USAGE, message, cause);
    }

    /**
     * Checks the command line.
     *
     * @throws CommandException with the message, if the command line is wrong
     */
    static void requireUsage(boolean isRight, String message) {
        if (!isRight) {
            throw usage(message);
        }
    }

    /** Creates an exception for a file that cannot be read. */
    static CommandException unreadable(String file, IOException e) {
        return failed("the file " + file + " cannot be read: " + FileErrors.reason(e), e);
    }

    int exitStatus() {
        return exitStatus;
    }
}
