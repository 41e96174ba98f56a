package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.ingest.RecoverSide.Child;
import dev.puri.benchmarks.ingest.RecoverSide.Result;
import dev.puri.benchmarks.ingest.RecoverSide.Task;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Rounds;
import java.util.EnumSet;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench recover}: what a number of registrations costs, and how long the topology takes until it processes
 * events again after the state of an instance was lost.
 *
 * <pre>
 *   load      creations in the topic ──▶ job ──▶ identities                      bytes on the broker's disk
 *   grow      copies of registrations and handles ──▶ changelogs                 the other rows
 *   restored  a few creations ──▶ job with an empty state directory ──▶ identities          time to the last row
 *   grown     more creations in the topic ──▶ job with its stores ──▶ identities       events/s, the sides in turn
 *   standby   a few creations ──▶ one of two instances, the other one has stopped ──▶ identities
 * </pre>
 *
 * The baseline is the {@link BareJob}, which has as many stores, keys and bytes. Each side runs in a separate process
 * together with its broker.
 */
@Command(
        name = "recover",
        description = {
            "Measures how long the topology takes to process events again when its state is lost, and what each",
            "registration costs on disk. Publishing takes about a minute for each million of rows and side, copying a",
            "tenth of it."
        })
public final class RecoverBench extends Bench {
    private static final String TOPOLOGY = "topology";
    private static final String CPU = ", µs";
    private static final String BASELINE = "bare Kafka Streams job";

    @Option(names = "--rows", description = "Number of registrations of the instance.")
    private int rows = 1_000_000;

    @Option(
            names = "--published",
            description = "Number of registrations that are published as events; the others are added to the changelogs"
                    + " of the job, as copies with other keys.")
    private int published = 300_000;

    @Option(names = "--events", description = "Number of events whose rate is measured when all rows are registered.")
    private int events = 300_000;

    @Option(names = "--recoveries", description = "How often the state is lost; medians count.")
    private int recoveries = 3;

    @Option(
            names = "--rounds",
            description = "How often each side processes the events, after a warm-up; medians count.")
    private int rounds = 3;

    @Option(
            names = "--store-memory",
            paramLabel = "MIB",
            description = "Memory of the stores of an instance, of both sides: PURI_STREAMS_STORE_MEMORY.")
    private int storeMemory = 256;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    private enum Part {
        EMPTY,
        STANDBY
    }

    @Override
    protected void measure() throws Exception {
        require(
                rows >= 100 && published >= 100 && events >= 100 && recoveries > 0 && rounds > 0,
                "needed: at least 100 rows, 100 published ones, 100 events, 1 recovery and 1 round");
        try (LocalSchemaRegistry registry = new LocalSchemaRegistry()) {
            Job topology = Job.topology(registry, null);
            if (only.contains(Part.EMPTY)) {
                measureEmptyDirectory(topology);
            }
            if (only.contains(Part.STANDBY)) {
                measureStandby(topology);
            }
        }
    }

    private void measureEmptyDirectory(Job job) throws Exception {
        try (Child topology = start(TOPOLOGY, job, false);
                Child baseline = start(BASELINE, job.baseline(topology.result().sizes()), false)) {
            Result ours = topology.result();
            Result theirs = baseline.result();
            addRecovery("empty state directory until events are processed", ours, theirs);
            Rounds measured = measureRounds(
                    rounds,
                    "events with all rows registered, 1/s and µs of processor each",
                    (round, recorder) -> Rounds.measureRotated(
                            round,
                            () -> record(recorder, TOPOLOGY, topology.measureRate()),
                            () -> record(recorder, BASELINE, baseline.measureRate())));
            measured.add("events through the topology with all rows registered", "1/s", TOPOLOGY, BASELINE, BASELINE);
            measured.add(
                    "processor time for each event with all rows registered, broker included",
                    "µs",
                    TOPOLOGY + CPU,
                    BASELINE,
                    BASELINE + CPU);
            add(
                    "state directory for each identity",
                    "bytes",
                    ours.stateBytes() / (double) rows,
                    BASELINE,
                    theirs.stateBytes() / (double) rows);
            ours.logBytes()
                    .forEach((topic, bytes) -> add(
                            "broker's disk for each identity, " + topic,
                            "bytes",
                            bytes / (double) Math.min(rows, published)));
        }
    }

    private static void record(Rounds.Recorder recorder, String side, RateReader.Rate rate) {
        recorder.record(side, rate.perSecond());
        recorder.record(side + CPU, rate.cpuMicros());
    }

    private void measureStandby(Job job) throws Exception {
        Result ours;
        try (Child topology = start(TOPOLOGY, job, true)) {
            ours = topology.result();
        }
        try (Child baseline = start(BASELINE, job.baseline(ours.sizes()), true)) {
            addRecovery("stop of an instance with a standby until events are processed", ours, baseline.result());
        }
    }

    private void addRecovery(String name, Result ours, Result theirs) {
        add(name, "s", Rounds.median(ours.recoverSeconds()), BASELINE, Rounds.median(theirs.recoverSeconds()));
    }

    private Child start(String side, Job job, boolean hasStandby) throws Exception {
        Task task = new Task(rows, Math.min(rows, published), events, recoveries, hasStandby, storeMemory);
        return Child.start(job, task, line -> progress(side + (hasStandby ? " with a standby: " : ": ") + line));
    }
}
