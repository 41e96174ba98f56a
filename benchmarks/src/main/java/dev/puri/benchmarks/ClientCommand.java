package dev.puri.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What a service gets of the registry; reads the command line of {@link ExportBench} and {@link EmbeddedBench}. */
@Command(
        name = "client",
        mixinStandardHelpOptions = true,
        description =
                "What a service gets: look-ups in its own process; how long an export of all rows takes over HTTP, and how"
                        + " large it is.")
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
        Consumer<String> progress = spec.commandLine().getErr()::println;
        List<Figure> figures = new ArrayList<>();
        try (FreshBroker broker = FreshBroker.start();
                SchemaServer schemas = SchemaServer.start()) {
            Population.publish(broker.bootstrapServers(), 0, rows, 0);
            figures.addAll(new ExportBench(rows, rounds, progress).measure(broker, schemas));
            figures.addAll(new EmbeddedBench(rows, rounds, progress)
                    .measure(broker, schemas, broker.directory("embedded-resolver")));
        }
        output.print(new Report("client", machine, figures), spec.commandLine().getOut());
        return 0;
    }
}
