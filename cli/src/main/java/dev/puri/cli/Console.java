package dev.puri.cli;

import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Input and output of a command: results go to {@code out} and everything else to {@code err}.
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

    /**
     * Returns the process's console. The launcher passes what is a terminal, because the JDK cannot detect it for
     * stderr.
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

    void say(String message) {
        err.println(message);
        err.flush();
    }
}
