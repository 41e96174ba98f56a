package dev.puri.benchmarks;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reads the command line of {@link TableBench}. */
@Command(
        name = "table",
        mixinStandardHelpOptions = true,
        description = {
            "How fast the identity table answers, fills and opens, and what a row takes,",
            "beside Kafka Streams' own stores on the same topic of a broker in this process, and others."
        })
final class TableCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(names = "--rows", defaultValue = "1000000", description = "Identities (default ${DEFAULT-VALUE}).")
    private int rows;

    @Option(
            names = "--gets",
            defaultValue = "500000",
            description = "Look-ups of one round and side (default ${DEFAULT-VALUE}).")
    private int gets;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds of each side after one to warm up; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--fills",
            defaultValue = "2",
            description =
                    "Times that each side is filled from the topic after one to warm up (default ${DEFAULT-VALUE}).")
    private int fills;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = "Parts of it: ${COMPLETION-CANDIDATES}. All without this.")
    private List<TableBench.Part> only = List.of();

    @Override
    public Integer call() throws Exception {
        if (rows < 1000 || gets < 1000 || rounds < 1 || fills < 1) {
            throw new ParameterException(spec.commandLine(), "at least 1000 rows, 1000 gets, 1 round and 1 fill");
        }
        Set<TableBench.Part> parts = only.isEmpty() ? EnumSet.allOf(TableBench.Part.class) : EnumSet.copyOf(only);
        TableBench bench = new TableBench(
                new TableBench.Plan(rows, gets, rounds, fills, parts),
                spec.commandLine().getErr()::println);
        output.print(bench.run(), spec.commandLine().getOut());
        return 0;
    }
}
