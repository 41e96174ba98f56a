package dev.puri.benchmarks.report;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command of {@code puri bench}: it checks its options, measures, and prints the figures. */
@Command(mixinStandardHelpOptions = true, showDefaultValues = true)
public abstract class Bench implements Callable<Integer> {
    /** Description of the option {@code --only}, which commands with parts have. */
    protected static final String ONLY = "Parts to measure, of ${COMPLETION-CANDIDATES}.";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "json|table",
            description = "Format of the results.")
    private Format format = Format.TABLE;

    private final List<Report.Figure> figures = new ArrayList<>();

    private enum Format {
        TABLE,
        JSON
    }

    /** Checks the options, measures, and adds the figures. */
    protected abstract void measure() throws Exception;

    @Override
    public final Integer call() throws Exception {
        String machine = Machine.describe();
        spec.commandLine().getErr().println(machine);
        measure();
        Report report = new Report(spec.name(), machine, figures);
        PrintWriter out = spec.commandLine().getOut();
        out.print(format == Format.JSON ? report.json() + System.lineSeparator() : report.table());
        out.flush();
        return figures.isEmpty() ? CommandLine.ExitCode.SOFTWARE : CommandLine.ExitCode.OK;
    }

    /**
     * Checks an option.
     *
     * @param rule states in the error message which values are valid
     * @throws ParameterException if the option is not valid
     */
    protected final void require(boolean isValid, String rule) {
        if (!isValid) {
            throw usageError(rule);
        }
    }

    /** Returns an exception that reports a mistake in the command line. */
    protected final ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** Prints a line of progress, with the load average. */
    public final void progress(String line) {
        spec.commandLine().getErr().println(line + "; load average " + Machine.load());
    }

    /** Adds a figure without a baseline. */
    public final void add(String name, String unit, double ours) {
        figures.add(new Report.Figure(name, unit, ours, null, null));
    }

    /** Adds a figure and the figure of a baseline. */
    public final void add(String name, String unit, double ours, String baseline, double theirs) {
        figures.add(new Report.Figure(name, unit, ours, baseline, theirs));
    }

    /** Adds a figure whose baseline was not measured; the name of the baseline then includes the reason. */
    public final void addWithoutBaseline(String name, String unit, double ours, String baseline, String reason) {
        figures.add(new Report.Figure(name, unit, ours, baseline + ": " + reason, null));
    }

    /**
     * Adds one figure for each percentile.
     *
     * @param name has one {@code %s}, which the percentile replaces, e.g. {@code p99}
     */
    public final void addPercentiles(
            String name, String unit, Histogram nanos, double nanosPerUnit, double... percentiles) {
        for (double percentile : percentiles) {
            add(
                    name.formatted(Timing.percentileName(percentile)),
                    unit,
                    nanos.getValueAtPercentile(percentile) / nanosPerUnit);
        }
    }

    /**
     * Runs one round to warm up, and then the rounds whose values count.
     *
     * @param name of the measured value, for the lines of progress
     */
    public final Rounds measureRounds(int roundCount, String name, Rounds.Measurement measurement) throws Exception {
        Rounds rounds = new Rounds(this);
        for (int round = 0; round <= roundCount; round++) {
            rounds.run(round, name, measurement);
        }
        return rounds;
    }
}
