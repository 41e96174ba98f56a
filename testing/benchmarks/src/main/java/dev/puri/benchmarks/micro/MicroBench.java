package dev.puri.benchmarks.micro;

import dev.puri.benchmarks.report.Bench;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** {@code puri bench micro}: passes its arguments to JMH, and prints the results like other benchmarks. */
@Command(
        name = "micro",
        description = {
            "Measures codecs, look-ups, puts and scans of the identity table separately, with JMH.",
            "Accepts the arguments of JMH: a pattern of names, -p rows=N, -f FORKS, -i ITERATIONS, -prof gc and others."
        })
public final class MicroBench extends Bench {
    @Unmatched
    private List<String> arguments = new ArrayList<>();

    @Override
    protected void measure() throws Exception {
        CommandLineOptions options;
        try {
            options = new CommandLineOptions(arguments.toArray(new String[0]));
        } catch (CommandLineOptionException e) {
            throw usageError(String.valueOf(e.getMessage()));
        }
        VerboseMode verbosity = options.verbosity().orElse(VerboseMode.NORMAL);
        for (RunResult run :
                new Runner(options, OutputFormatFactory.createFormatInstance(System.err, verbosity)).run()) {
            Result<?> result = run.getPrimaryResult();
            add(name(run.getParams()), result.getScoreUnit(), result.getScore());
        }
    }

    private static String name(BenchmarkParams params) {
        String benchmark = params.getBenchmark();
        int method = benchmark.lastIndexOf('.');
        StringBuilder name = new StringBuilder(benchmark.substring(benchmark.lastIndexOf('.', method - 1) + 1));
        for (String parameter : params.getParamsKeys()) {
            name.append(", %s=%s".formatted(parameter, params.getParam(parameter)));
        }
        return name.toString();
    }
}
