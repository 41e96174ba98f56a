package dev.puri.benchmarks;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What a service gets of the registry; reads the command line of {@link ExportBench}. */
@Command(
        name = "client",
        mixinStandardHelpOptions = true,
        description = "What a service gets: how long an export of all rows takes over HTTP, and how large it is.")
final class ClientCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(names = "--rows", defaultValue = "1000000", description = "Identities (default ${DEFAULT-VALUE}).")
    private int rows;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds after one to warm up; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Override
    public Integer call() throws Exception {
        if (rows < 1000 || rounds < 1) {
            throw new ParameterException(spec.commandLine(), "at least 1000 rows and 1 round");
        }
        String machine = Machine.describe();
        List<Figure> figures = new ExportBench(rows, rounds, spec.commandLine().getErr()::println).measure();
        output.print(new Report("client", machine, figures), spec.commandLine().getOut());
        return 0;
    }
}
