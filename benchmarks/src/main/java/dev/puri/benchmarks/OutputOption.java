package dev.puri.benchmarks;

import java.io.PrintWriter;
import picocli.CommandLine.Option;

/** How results are printed, the same for every benchmark. */
final class OutputOption {
    /** Spelled in lower case on the command line. */
    enum Format {
        TABLE,
        JSON
    }

    @Option(
            names = {"-o", "--output"},
            paramLabel = "json|table",
            defaultValue = "table",
            description = "How results are printed (default ${DEFAULT-VALUE}).")
    private Format format = Format.TABLE;

    void print(Report report, PrintWriter out) {
        if (format == Format.JSON) {
            out.println(report.json());
        } else {
            out.print(report.table());
        }
        out.flush();
    }
}
