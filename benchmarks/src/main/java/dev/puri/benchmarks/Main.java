package dev.puri.benchmarks;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code puri bench NAME}: figures, each beside a baseline of the same run. */
@Command(
        name = "puri bench",
        subcommands = {
            IngestCommand.class,
            TableCommand.class,
            ClientCommand.class,
            CurveCommand.class,
            MicroCommand.class,
            ResolverCommand.class,
            SearchCommand.class
        },
        synopsisSubcommandLabel = "NAME",
        description = "Measures, on this machine and now.",
        footer = {"", "Results go to stdout and progress to stderr. Exit status: 0 measured, 1 a run failed, 2 usage."})
public final class Main {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this.")
    @SuppressWarnings("unused") // picocli looks at it
    private boolean help;

    private Main() {}

    /** Runs a benchmark and ends the process. */
    public static void main(String[] args) {
        System.exit(run(
                new PrintWriter(System.out, false, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                args));
    }

    static int run(PrintWriter out, PrintWriter err, String... args) {
        CommandLine line = new CommandLine(new Main())
                .setOut(out)
                .setErr(err)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setPosixClusteredShortOptionsAllowed(false)
                .setUsageHelpWidth(100);
        if (args.length == 0) {
            line.usage(err);
            return CommandLine.ExitCode.USAGE;
        }
        int status = line.execute(args);
        out.flush();
        err.flush();
        return status;
    }
}
