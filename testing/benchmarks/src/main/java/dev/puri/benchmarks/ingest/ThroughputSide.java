package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.ChildJvm;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A process of one side of {@link Throughput}. */
public final class ThroughputSide {
    private ThroughputSide() {}

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

    /** Runs the rounds of a task in a new process. */
    static List<Round> run(Job job, Task task, Consumer<Round> progress) throws IOException {
        List<Round> rounds = new ArrayList<>();
        try (ChildJvm child = job.startChild(ThroughputSide.class, task)) {
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
