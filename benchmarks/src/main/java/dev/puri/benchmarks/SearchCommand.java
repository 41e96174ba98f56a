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

/** Reads the command line of {@link SearchBench}. */
@Command(
        name = "search",
        mixinStandardHelpOptions = true,
        description = {
            "How fast documents are indexed and found beside Lucene alone, how long another index takes to be built,",
            "and how soon what was published is found. Needs wrk for searches over HTTP."
        })
final class SearchCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(names = "--documents", defaultValue = "1000000", description = "Documents (default ${DEFAULT-VALUE}).")
    private int documents;

    @Option(
            names = "--fills",
            defaultValue = "3",
            description = "Times that indices are filled after one to warm up; medians count"
                    + " (default ${DEFAULT-VALUE}).")
    private int fills;

    @Option(
            names = "--queries",
            defaultValue = "1000",
            description = "Queries of each side in each round (default ${DEFAULT-VALUE}).")
    private int queries;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Rounds of queries after one to warm up; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--seconds",
            defaultValue = "5",
            description = "Of each round over HTTP (default ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--rate",
            defaultValue = "500",
            description = "Events a second until they are found (default ${DEFAULT-VALUE}).")
    private int rate;

    @Option(
            names = "--fresh-seconds",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "How long they are published, after a third of it to warm up (default ${DEFAULT-VALUE}).")
    private int freshSeconds;

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "PART",
            description = "Parts of it: ${COMPLETION-CANDIDATES}. All without this.")
    private List<SearchBench.Part> only = List.of();

    @Override
    public Integer call() throws Exception {
        if (documents < 1000
                || fills < 1
                || queries < 20
                || rounds < 1
                || seconds < 1
                || rate < 1
                || freshSeconds < 1) {
            throw new ParameterException(
                    spec.commandLine(), "at least 1000 documents, 20 queries, and 1 of all others");
        }
        Set<SearchBench.Part> parts = only.isEmpty() ? EnumSet.allOf(SearchBench.Part.class) : EnumSet.copyOf(only);
        SearchBench bench = new SearchBench(
                new SearchBench.Plan(
                        documents, fills, queries, rounds, seconds, rate, Duration.ofSeconds(freshSeconds), parts),
                spec.commandLine().getErr()::println);
        output.print(bench.run(), spec.commandLine().getOut());
        return 0;
    }
}
