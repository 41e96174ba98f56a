package dev.puri.cli;

import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What a command talks to: results go to {@code out} and everything else to {@code err}.
 *
 * @param environment the environment's variables
 * @param outIsTerminal whether a person sees {@code out}, so that colours make sense
 * @param errIsTerminal whether a person sees {@code err}, so that progress makes sense
 */
record Console(
        InputStream in,
        PrintWriter out,
        PrintWriter err,
        Map<String, String> environment,
        boolean outIsTerminal,
        boolean errIsTerminal) {

    /** This process's own; the launcher tells what is a terminal, for the JDK cannot tell it of stderr. */
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
