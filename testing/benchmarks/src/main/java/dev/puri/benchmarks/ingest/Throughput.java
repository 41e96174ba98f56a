package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.data.RowHashes;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.ingest.ThroughputSide.Round;
import dev.puri.benchmarks.ingest.ThroughputSide.Task;
import dev.puri.benchmarks.report.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Measures the events per second through the topology, all of them creations with handles, and through the baseline
 * {@link BareJob}. Each side runs its rounds in separate processes, one after the other. A round publishes the events
 * to a new broker, starts the side, and reads identities until the last one has arrived.
 */
record Throughput(IngestBench bench) {
    /** Allowance for bytes that do not depend on the events: transaction markers, other topics of the topology. */
    private static final long TOLERATED_BYTES = 4 << 20;

    private static final int HASH_CALLS = 3;
    private static final String BASELINE = "bare Kafka Streams job";

    void measure(LocalSchemaRegistry registry) throws Exception {
        Task task = new Task(bench.events, bench.warmUp + bench.rounds);
        Job topology = Job.topology(registry, bench.commitInterval);
        List<Round> ours = new ArrayList<>();
        List<Round> theirs = new ArrayList<>();
        for (int fork = 1; fork <= bench.forks; fork++) {
            String suffix = ", process " + fork + " of " + bench.forks + ": ";
            List<Round> oursOfFork =
                    ThroughputSide.run(topology, task, round -> bench.progress("topology" + suffix + round.text()));
            // The baseline writes records of the sizes in the first round of the topology.
            Job baseline = topology.baseline(oursOfFork.getFirst().sizes());
            List<Round> theirsOfFork =
                    ThroughputSide.run(baseline, task, round -> bench.progress(BASELINE + suffix + round.text()));
            requireSameBytes(
                    oursOfFork.getLast().logBytes(), theirsOfFork.getLast().logBytes());
            ours.addAll(oursOfFork.subList(bench.warmUp, oursOfFork.size()));
            theirs.addAll(theirsOfFork.subList(bench.warmUp, theirsOfFork.size()));
            bench.progress("ratio %.2f".formatted(median(ours, Round::perSecond) / median(theirs, Round::perSecond)));
        }
        add("events through the topology", "1/s", ours, theirs, Round::perSecond);
        add("processor time for each event, broker included", "µs", ours, theirs, Round::cpuMicros);
        bench.add(
                "digest: hash of a row",
                "µs",
                hashMicros(),
                "processor time for each event in the topology",
                median(ours, Round::cpuMicros));
    }

    /** Returns the time of the one hash that the digest of a partition adds to a creation. */
    private static double hashMicros() {
        RowHashes hashes = new RowHashes();
        // The first calls only warm up.
        double nanos = 0;
        for (int call = 0; call < HASH_CALLS; call++) {
            nanos = hashes.nanosInRegistrar();
        }
        return nanos / 1000;
    }

    private void add(String name, String unit, List<Round> ours, List<Round> theirs, ToDoubleFunction<Round> value) {
        bench.add(name, unit, median(ours, value), BASELINE, median(theirs, value));
    }

    /** Checks that the baseline writes about as many bytes as the topology. */
    private static void requireSameBytes(long ours, long theirs) {
        if (Math.abs(ours - theirs) > ours / 10 + TOLERATED_BYTES) {
            throw new IllegalStateException("the topology logged " + ours + " bytes and the bare job " + theirs
                    + ": the sizes of their records differ");
        }
    }

    private static double median(List<Round> rounds, ToDoubleFunction<Round> value) {
        return Rounds.median(rounds.stream().mapToDouble(value).boxed().toList());
    }
}
