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

/** Reads the command line of {@link ResolverBench}. */
@Command(
        name = "resolver",
        mixinStandardHelpOptions = true,
        description = {
            "How fast a resolver answers over HTTP beside a bare handler, Redis, and handlers over Redis and PostgreSQL,",
            "how soon, how it bears attackers, and what memory it has after an hour's worth of requests.",
            "Needs wrk; redis-server, redis-benchmark and PostgreSQL for the baselines of their names."
        })
final class ResolverCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(names = "--rows", defaultValue = "1000000", description = "Identities (default ${DEFAULT-VALUE}).")
    private int rows;

    @Option(
            names = "--seconds",
            defaultValue = "5",
            description = "Of each side in each round (default ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--attack-seconds",
            paramLabel = "SECONDS",
            defaultValue = "15",
            description = "The same beside attackers (default ${DEFAULT-VALUE}).")
    private int attackSeconds;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds of each side after one to warm up; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--soak-requests",
            paramLabel = "REQUESTS",
            defaultValue = "3600000",
            description = "Before memory is compared; the default ${DEFAULT-VALUE} is an hour at 1,000 a second.")
    private long soakRequests;

    @Option(
            names = "--resolver-java-opts",
            paramLabel = "OPTIONS",
            split = " ",
            description = "More options of the resolver's JVM, to look closer.")
    private List<String> javaOptions = List.of();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = "Parts of it: ${COMPLETION-CANDIDATES}. All without this.")
    private List<ResolverBench.Part> only = List.of();

    @Override
    public Integer call() throws Exception {
        if (rows < 1000 || seconds < 1 || attackSeconds < 1 || rounds < 1 || soakRequests < 1000) {
            throw new ParameterException(
                    spec.commandLine(), "at least 1000 rows, 1 second, 1 round and 1000 requests to soak");
        }
        Set<ResolverBench.Part> parts = only.isEmpty() ? EnumSet.allOf(ResolverBench.Part.class) : EnumSet.copyOf(only);
        ResolverBench bench = new ResolverBench(
                new ResolverBench.Plan(rows, seconds, attackSeconds, rounds, soakRequests, javaOptions, parts),
                spec.commandLine().getErr()::println);
        output.print(bench.run(), spec.commandLine().getOut());
        return 0;
    }
}
