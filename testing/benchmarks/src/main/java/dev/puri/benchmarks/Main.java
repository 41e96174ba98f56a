package dev.puri.benchmarks;

import dev.puri.benchmarks.client.ClientBench;
import dev.puri.benchmarks.ingest.ImportBench;
import dev.puri.benchmarks.ingest.IngestBench;
import dev.puri.benchmarks.ingest.RecoverBench;
import dev.puri.benchmarks.micro.MicroBench;
import dev.puri.benchmarks.resolver.ResolverBench;
import dev.puri.benchmarks.search.SearchBench;
import dev.puri.benchmarks.table.CurveBench;
import dev.puri.benchmarks.table.TableBench;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code puri bench NAME}, which runs a benchmark. Most figures have a baseline from the same run. */
@Command(
        name = "puri bench",
        subcommands = {
            IngestBench.class,
            TableBench.class,
            ClientBench.class,
            CurveBench.class,
            ImportBench.class,
            MicroBench.class,
            RecoverBench.class,
            ResolverBench.class,
            SearchBench.class
        },
        synopsisSubcommandLabel = "NAME",
        description = "Runs a benchmark on this machine.",
        footer = {"", "Results go to stdout and progress to stderr. Exit status: 0 success, 1 a run failed, 2 usage."})
public final class Main {
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.")
    @SuppressWarnings("unused") // picocli reads the field
    private boolean help;

    private Main() {}

    /** Runs a benchmark and ends the process. */
    public static void main(String[] args) {
        System.exit(run(
                new PrintWriter(System.out, false, StandardCharsets.UTF_8),
                new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                args));
    }

    /** Runs a benchmark, and returns the exit status. */
    public static int run(PrintWriter out, PrintWriter err, String... args) {
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
