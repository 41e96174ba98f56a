package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.ingest.ThroughputSide.Round;
import dev.puri.benchmarks.ingest.ThroughputSide.Task;
import dev.puri.benchmarks.report.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;

/**
 * Events a second through the topology, all of them creations with handles, beside those through the {@linkplain
 * BareJob bare job}. Each side runs its rounds in processes of its own, one after the other. A round puts the events
 * into a fresh broker, starts the side and reads identities until the last one is there.
 */
record Throughput(IngestBench bench) {
    /** For bytes that do not grow with the events: markers of transactions, the topology's other topics. */
    private static final long SLACK_BYTES = 4 << 20;

    private static final String BASELINE = "bare Kafka Streams job";

    void measure(LocalSchemaRegistry registry) throws Exception {
        Task task = new Task(
                bench.events,
                registry.eventSchemaId(),
                registry.url(),
                bench.commitInterval,
                bench.warmUp + bench.rounds,
                null);
        List<Round> ours = new ArrayList<>();
        List<Round> theirs = new ArrayList<>();
        for (int fork = 1; fork <= bench.forks; fork++) {
            String of = ", process " + fork + " of " + bench.forks + ": ";
            List<Round> our = ThroughputSide.run(task, round -> bench.progress("topology" + of + round.text()));
            // The first round shows how long our records are.
            Task same = task.withSizes(Objects.requireNonNull(our.getFirst().sizes()));
            List<Round> their = ThroughputSide.run(same, round -> bench.progress(BASELINE + of + round.text()));
            requireSameBytes(our.getLast().logBytes(), their.getLast().logBytes());
            ours.addAll(our.subList(bench.warmUp, our.size()));
            theirs.addAll(their.subList(bench.warmUp, their.size()));
            bench.progress("ratio %.2f".formatted(median(ours, Round::perSecond) / median(theirs, Round::perSecond)));
        }
        add("events through the topology", "1/s", ours, theirs, Round::perSecond);
        add("processor time for each event, broker included", "µs", ours, theirs, Round::cpuMicros);
    }

    private void add(String name, String unit, List<Round> ours, List<Round> theirs, ToDoubleFunction<Round> value) {
        bench.add(name, unit, median(ours, value), BASELINE, median(theirs, value));
    }

    /** The baseline has to move as much as the topology. */
    private static void requireSameBytes(long ours, long theirs) {
        if (Math.abs(ours - theirs) > ours / 10 + SLACK_BYTES) {
            throw new IllegalStateException("the topology logged " + ours + " bytes and the bare job " + theirs
                    + ": they do not move the same");
        }
    }

    private static double median(List<Round> rounds, ToDoubleFunction<Round> value) {
        return Rounds.median(rounds.stream().mapToDouble(value).boxed().toList());
    }
}
