package dev.puri.benchmarks;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Hands its command line to JMH, and prints what that found like any other benchmark. */
@Command(
        name = "micro",
        mixinStandardHelpOptions = true,
        description = {
            "Codecs, look-ups, puts and scans of the identity table one by one, with JMH.",
            "Takes JMH's own arguments: a pattern of names, -p rows=N, -f FORKS, -i ITERATIONS, -prof gc and others."
        })
final class MicroCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Unmatched
    private List<String> given = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        CommandLineOptions options;
        try {
            options = new CommandLineOptions(given.toArray(new String[0]));
        } catch (CommandLineOptionException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
        String machine = Machine.describe();
        Collection<RunResult> results = new Runner(
                        options,
                        OutputFormatFactory.createFormatInstance(
                                System.err, options.verbosity().orElse(VerboseMode.NORMAL)))
                .run();
        output.print(
                new Report(
                        "micro",
                        machine,
                        results.stream().map(MicroCommand::figure).toList()),
                spec.commandLine().getOut());
        return results.isEmpty() ? 1 : 0;
    }

    private static Figure figure(RunResult run) {
        String benchmark = run.getParams().getBenchmark();
        int method = benchmark.lastIndexOf('.');
        StringBuilder name = new StringBuilder(benchmark.substring(benchmark.lastIndexOf('.', method - 1) + 1));
        for (String parameter : run.getParams().getParamsKeys()) {
            name.append(", %s=%s".formatted(parameter, run.getParams().getParam(parameter)));
        }
        Result<?> result = run.getPrimaryResult();
        return Figure.alone(name.toString(), result.getScoreUnit(), result.getScore());
    }
}
