package dev.puri.benchmarks;

import java.time.Duration;
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

/** Reads the command line of {@link ClientBench}. */
@Command(
        name = "client",
        mixinStandardHelpOptions = true,
        description = {
            "How fast a service mints, publishes, and publishes through its own database, how soon others resolve that,",
            "and how fast it looks up: in its own process, over HTTP, and in the resolver client's cache.",
            "Also how long an export of all rows takes over HTTP, and how large it is."
        })
final class ClientCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(
            names = "--rows",
            defaultValue = "1000000",
            description = "Identities that are looked up and exported (default ${DEFAULT-VALUE}).")
    private int rows;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds after one to warm up; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--minted",
            paramLabel = "IDENTITIES",
            defaultValue = "500000",
            description = "Minted by each side in each round (default ${DEFAULT-VALUE}).")
    private int minted;

    @Option(
            names = "--events",
            defaultValue = "100000",
            description = "Published by each side in each round (default ${DEFAULT-VALUE}).")
    private int events;

    @Option(
            names = "--backlog",
            paramLabel = "EVENTS",
            defaultValue = "20000",
            description = "In an outbox before its relay starts, in each round (default ${DEFAULT-VALUE}).")
    private int backlog;

    @Option(
            names = "--rate",
            defaultValue = "100",
            description = "Transactions a second until their events are resolvable (default ${DEFAULT-VALUE}).")
    private int rate;

    @Option(
            names = "--seconds",
            defaultValue = "20",
            description = {
                "How long each of three sides commits them in each of four rounds, after a third of it to warm up",
                "(default ${DEFAULT-VALUE})."
            })
    private int seconds;

    @Option(
            names = "--look-ups",
            paramLabel = "LOOKUPS",
            defaultValue = "10000",
            description = "Over HTTP by each side in each round; a tenth as many batches (default ${DEFAULT-VALUE}).")
    private int lookUps;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = "Parts of it: ${COMPLETION-CANDIDATES}. All without this.")
    private List<ClientBench.Part> only = List.of();

    @Override
    public Integer call() throws Exception {
        if (rows < 1000
                || rounds < 1
                || minted < 1
                || events < 1
                || backlog < 3000
                || rate < 1
                || seconds < 1
                || lookUps < 10) {
            throw new ParameterException(
                    spec.commandLine(), "at least 1000 rows, a backlog of 3000, 10 look-ups, and 1 of all others");
        }
        Set<ClientBench.Part> parts = only.isEmpty() ? EnumSet.allOf(ClientBench.Part.class) : EnumSet.copyOf(only);
        ClientBench bench = new ClientBench(
                new ClientBench.Plan(
                        rows, rounds, minted, events, backlog, rate, Duration.ofSeconds(seconds), lookUps, parts),
                spec.commandLine().getErr()::println);
        output.print(bench.run(), spec.commandLine().getOut());
        return 0;
    }
}
