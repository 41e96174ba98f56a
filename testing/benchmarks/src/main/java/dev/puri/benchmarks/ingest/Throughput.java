package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.data.RowHashes;
import dev.puri.benchmarks.environment.ChildJvm;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

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

    /** The work of one process. */
    record Task(int events, int rounds) {}

    /**
     * The figures of one round.
     *
     * @param cpuMicros processor time of the process per event
     * @param logBytes size of the broker's logs
     * @param sizes of the topology's records; null for the bare job
     */
    record Round(double perSecond, double cpuMicros, long logBytes, BareJob.@Nullable Sizes sizes) {
        String text() {
            return "%,.0f/s, %.1f µs of processor each, %,d MB logged"
                    .formatted(perSecond, cpuMicros, logBytes / 1_000_000);
        }
    }

    void measure(LocalSchemaRegistry registry) throws Exception {
        Task task = new Task(bench.events, bench.warmUp + bench.rounds);
        Job topology = Job.topology(registry, bench.commitInterval);
        List<Round> ours = new ArrayList<>();
        List<Round> theirs = new ArrayList<>();
        for (int fork = 1; fork <= bench.forks; fork++) {
            String suffix = ", process " + fork + " of " + bench.forks + ": ";
            List<Round> oursOfFork = run(topology, task, round -> bench.progress("topology" + suffix + round.text()));
            // The baseline writes records of the sizes in the first round of the topology.
            Job baseline = topology.baseline(oursOfFork.getFirst().sizes());
            List<Round> theirsOfFork = run(baseline, task, round -> bench.progress(BASELINE + suffix + round.text()));
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

    /** Runs the rounds of a task in a new process. */
    private static List<Round> run(Job job, Task task, Consumer<Round> progress) throws IOException {
        List<Round> rounds = new ArrayList<>();
        try (ChildJvm child = job.startChild(Throughput.class, task)) {
            while (rounds.size() < task.rounds()) {
                rounds.add(child.receive(Round.class));
                progress.accept(rounds.getLast());
            }
            // Lets a flight recorder write its file.
            child.awaitExit();
        }
        return rounds;
    }

    /** Runs the rounds of the {@link Task} in the arguments. */
    public static void main(String[] args) {
        Job.runInChild(args, Task.class, (job, task, requests) -> {
            for (int round = 1; round <= task.rounds(); round++) {
                ChildJvm.printResult(runRound(job, task.events()));
            }
        });
    }

    private static Round runRound(Job job, int events) throws Exception {
        // So this round does not pay for the garbage of the last one.
        System.gc();
        try (FreshBroker filled = FreshBroker.filled(broker -> {
                    job.prepare(broker);
                    new Creations().publish(broker, events, job.schemaId());
                });
                RateReader reader = new RateReader(filled, Topics.IDENTITIES)) {
            StreamsSettings settings = job.settings().topology(filled);
            try (Job.Instance instance = job.start(settings)) {
                RateReader.Rate rate = reader.read(events, instance::isRunning);
                return new Round(
                        rate.perSecond(), rate.cpuMicros(), filled.logBytes(), job.readSizes(filled, settings));
            }
        }
    }
}
