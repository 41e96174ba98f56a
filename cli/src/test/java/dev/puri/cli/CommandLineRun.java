package dev.puri.cli;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** One run of the command in this process, with its output. */
record CommandLineRun(int status, String out, String err) {
    /** Runs the command with empty standard input. */
    static CommandLineRun of(Map<String, String> environment, String... args) {
        return reading(environment, "", args);
    }

    static CommandLineRun reading(Map<String, String> environment, String input, String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        Console console = new Console(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintWriter(out),
                new PrintWriter(err),
                environment,
                false,
                false);
        return new CommandLineRun(Main.run(console, args), out.toString(), err.toString());
    }

    /** Returns a parser of command lines that runs no command. */
    static CommandLine parser() {
        return new CommandLine(new PuriCommand(silentConsole()));
    }

    /** Returns a console with empty input and environment, whose output nobody sees. */
    static Console silentConsole() {
        return new Console(
                InputStream.nullInputStream(),
                new PrintWriter(new StringWriter()),
                new PrintWriter(new StringWriter()),
                Map.of(),
                false,
                false);
    }

    List<String> outLines() {
        return out.lines().toList();
    }

    List<String> errLines() {
        return err.lines().toList();
    }
}
