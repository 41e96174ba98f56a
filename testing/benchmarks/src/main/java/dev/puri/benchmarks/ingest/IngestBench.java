package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.benchmarks.report.Bench;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench ingest}: the throughput of the topology, and the latency from an event's publication to its row.
 *
 * <pre>
 *   throughput   events in the topic ──▶ topology ──▶ identities ──▶ a consumer that counts
 *                events in the topic ──▶ bare job ──▶ identities ──▶ a consumer that counts      alternating
 *
 *   latency      publisher at a fixed rate ──▶ topology ──▶ resolver ◀── GET by pURI until it is found
 * </pre>
 *
 * The schema registry runs in a separate process, and so does each side of throughput. Latency is measured in this
 * process.
 */
@Command(
        name = "ingest",
        description = {
            "Measures how many events per second the topology processes, and how soon an identity is resolvable.",
            "Broker, schema registry, topology and resolver run on this machine, in temporary directories."
        })
public final class IngestBench extends Bench {
    @Option(names = "--events", description = "Number of events in a round of throughput.")
    int events = 300_000;

    @Option(names = "--forks", description = "Number of processes of each side of throughput.")
    int forks = 2;

    @Option(names = "--rounds", description = "Number of rounds of each process; medians count.")
    int rounds = 3;

    @Option(names = "--warm-up", paramLabel = "<rounds>", description = "Number of warm-up rounds of each process.")
    int warmUp = 3;

    @Option(names = "--rate", description = "Events per second for latency.")
    int rate = 500;

    @Option(names = "--seconds", description = "How long latency is measured, after a warm-up of a third of it.")
    int seconds = 30;

    @Option(
            names = "--commit-interval",
            paramLabel = "MS",
            description =
                    "Commit interval of the topology and of the bare job, in ms; without it, the topology's default.")
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
                "needed: at least 100 events, and 1 for each other number");
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry()) {
            if (only.contains(Part.THROUGHPUT)) {
                new Throughput(this).measure(registry);
            }
            if (only.contains(Part.LATENCY)) {
                new Latency(this, new ServerSettings(registry.url(), commitInterval), new Creations()).measure();
            }
        }
    }
}
