package dev.puri.cli;

import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Input and output of a command. Results go to {@code out}, all other messages to {@code err}.
 *
 * @param environment environment variables
 * @param outIsTerminal whether {@code out} is a terminal and can show colours
 * @param errIsTerminal whether {@code err} is a terminal and can show progress
 */
record Console(
        InputStream in,
        PrintWriter out,
        PrintWriter err,
        Map<String, String> environment,
        boolean outIsTerminal,
        boolean errIsTerminal) {

    /** The message if {@code out} cannot be written. The JDK does not say why, e.g. because {@code head} has ended. */
    static final String OUT_FAILED = "stdout is closed or cannot be written, so the output is incomplete";

    private static final String CLEAR_LINE = "\r\033[K";

    /**
     * Returns the console of this process. Two system properties, which the launcher sets, say whether stdout and
     * stderr are terminals, because the JDK cannot detect this for stderr.
     */
    static Console ofProcess() {
        return new Console(
                System.in,
                new PrintWriter(System.out, false, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                System.getenv(),
                Boolean.getBoolean("puri.stdout.terminal"),
                Boolean.getBoolean("puri.stderr.terminal"));
    }

    /**
     * Flushes {@code out}.
     *
     * @throws CommandException if not all of the output was written
     */
    void requireWritten() {
        if (out.checkError()) {
            throw CommandException.failed(OUT_FAILED);
        }
    }

    /** Prints a message to {@code err}, in place of the line of progress. */
    void say(String message) {
        clearProgress();
        err.println(message);
        err.flush();
    }

    /** Prints a line of progress to {@code err}, which the next line replaces. Does nothing if it is not a terminal. */
    void showProgress(String text) {
        if (errIsTerminal) {
            err.print(CLEAR_LINE + text);
            err.flush();
        }
    }

    /** Removes the line of progress. */
    void clearProgress() {
        showProgress("");
    }
}
