package dev.puri.benchmarks;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Reads the command line of {@link Ingest}. */
@Command(
        name = "ingest",
        description = {
            "How many events a second go through the topology, and how soon one can be resolved.",
            "Broker, schema registry, topology and resolver run on this machine, in directories of their own."
        })
final class IngestCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private OutputOption output = new OutputOption();

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this.")
    @SuppressWarnings("unused") // picocli reads it
    private boolean help;

    @Option(
            names = "--events",
            defaultValue = "300000",
            description = "Events of one round of throughput (default ${DEFAULT-VALUE}).")
    private int events;

    @Option(
            names = "--forks",
            defaultValue = "2",
            description = "Processes of each side of throughput (default ${DEFAULT-VALUE}).")
    private int forks;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "Rounds of each process; medians count (default ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--warm-up",
            paramLabel = "<rounds>",
            defaultValue = "3",
            description = "Rounds of each process before those that count (default ${DEFAULT-VALUE}).")
    private int warmUp;

    @Option(
            names = "--rate",
            defaultValue = "500",
            description = "Events a second for latency (default ${DEFAULT-VALUE}).")
    private int rate;

    @Option(
            names = "--seconds",
            defaultValue = "30",
            description = "How long latency is measured, after a third of it to warm up (default ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--commit-interval",
            paramLabel = "MS",
            description = "Of the topology and of the bare job, in ms (default: the topology's).")
    private @Nullable Integer commitInterval;

    @Option(names = "--only", description = "One part of it: ${COMPLETION-CANDIDATES}. Both without this.")
    private Ingest.@Nullable Part only;

    @Override
    public Integer call() throws Exception {
        if (events < 100 || forks < 1 || rounds < 1 || warmUp < 1 || rate < 1 || seconds < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "at least 100 events, 1 process, 1 round and 1 before it, 1 event a second and 1 second");
        }
        Ingest ingest = new Ingest(
                new Ingest.Plan(
                        events,
                        forks,
                        warmUp,
                        rounds,
                        rate,
                        Duration.ofSeconds(seconds),
                        Optional.ofNullable(commitInterval).map(Duration::ofMillis),
                        only),
                spec.commandLine().getErr()::println);
        output.print(ingest.run(), spec.commandLine().getOut());
        return 0;
    }
}
