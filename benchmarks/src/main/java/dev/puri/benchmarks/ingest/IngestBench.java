package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.report.Bench;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench ingest}: from an event's publication to its row, how many and how soon.
 *
 * <pre>
 *   throughput   events, published before ──▶ topology ──▶ identities ──▶ a consumer that counts
 *                events, as many bytes    ──▶ bare job ──▶ identities ──▶ a consumer that counts      in turn
 *
 *   latency      publisher at a fixed rate ──▶ topology ──▶ resolver ◀── GET by pURI until it is found
 * </pre>
 *
 * The schema registry has a process of its own, and so has each side of throughput; latency is measured in this one.
 */
@Command(
        name = "ingest",
        description = {
            "How many events a second go through the topology, and how soon one can be resolved.",
            "Broker, schema registry, topology and resolver run on this machine, in directories of their own."
        })
public final class IngestBench extends Bench {
    @Option(names = "--events", description = "Events of one round of throughput.")
    int events = 300_000;

    @Option(names = "--forks", description = "Processes of each side of throughput.")
    int forks = 2;

    @Option(names = "--rounds", description = "Rounds of each process; medians count.")
    int rounds = 3;

    @Option(
            names = "--warm-up",
            paramLabel = "<rounds>",
            description = "Rounds of each process before those that count.")
    int warmUp = 3;

    @Option(names = "--rate", description = "Events a second for latency.")
    int rate = 500;

    @Option(names = "--seconds", description = "How long latency is measured, after a third of it to warm up.")
    int seconds = 30;

    @Option(
            names = "--commit-interval",
            paramLabel = "MS",
            description = "Of the topology and of the bare job, in ms (default: the topology's).")
    @Nullable
    Long commitInterval;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    private enum Part {
        THROUGHPUT,
        LATENCY
    }

    @Override
    protected void measure() throws Exception {
        require(
                events >= 100 && forks > 0 && rounds > 0 && warmUp > 0 && rate > 0 && seconds > 0,
                "at least 100 events, 1 process, 1 round and 1 before it, 1 event a second and 1 second");
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry()) {
            if (only.contains(Part.THROUGHPUT)) {
                new Throughput(this).measure(registry);
            }
            if (only.contains(Part.LATENCY)) {
                new Latency(
                                this,
                                new ServerSettings(
                                        registry.url(),
                                        Optional.ofNullable(commitInterval).map(Duration::ofMillis)))
                        .measure();
            }
        }
    }
}
