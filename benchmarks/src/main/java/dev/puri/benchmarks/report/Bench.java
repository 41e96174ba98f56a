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

/** A command of {@code puri bench}. It reads its options, measures, and prints its figures. */
@Command(mixinStandardHelpOptions = true, showDefaultValues = true)
public abstract class Bench implements Callable<Integer> {
    /** Describes the option {@code --only} of commands that have parts. */
    protected static final String ONLY = "Parts to measure, of ${COMPLETION-CANDIDATES}.";

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "json|table",
            description = "How results are printed.")
    private Format format = Format.TABLE;

    private final List<Figure> figures = new ArrayList<>();

    private enum Format {
        TABLE,
        JSON
    }

    /** Checks the options, measures, and adds each figure. */
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
     * @param rule what is valid, for the message
     * @throws ParameterException if the option is not valid
     */
    protected final void require(boolean isValid, String rule) {
        if (!isValid) {
            throw mistake(rule);
        }
    }

    /** Returns an exception about the command line. */
    protected final ParameterException mistake(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** Prints a line of progress, with the load average. */
    public final void progress(String line) {
        spec.commandLine().getErr().println(line + "; load average " + Machine.load());
    }

    /** Adds a figure that has no baseline. */
    public final void add(String name, String unit, double ours) {
        figures.add(new Figure(name, unit, ours, null, null));
    }

    /** Adds a figure and that of its baseline. */
    public final void add(String name, String unit, double ours, String baseline, double theirs) {
        figures.add(new Figure(name, unit, ours, baseline, theirs));
    }

    /** Adds a figure whose baseline could not be measured, and says why in the baseline's name. */
    public final void addWithout(String name, String unit, double ours, String baseline, String why) {
        figures.add(new Figure(name, unit, ours, baseline + ": " + why, null));
    }

    /**
     * Adds one figure for each percentile.
     *
     * @param name with one {@code %s} for the percentile, e.g. {@code p99}
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
     * Runs one round to warm up, and then those that count.
     *
     * @param what is measured, for the progress
     */
    public final Rounds rounds(int counted, String what, Rounds.Turns turns) throws Exception {
        Rounds rounds = new Rounds(this);
        for (int round = 0; round <= counted; round++) {
            rounds.run(round, what, turns);
        }
        return rounds;
    }
}
