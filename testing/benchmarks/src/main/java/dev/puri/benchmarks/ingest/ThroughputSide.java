package dev.puri.benchmarks.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.ChildJvm;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.RateReader;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One side of {@link Throughput}, which runs in a separate process together with its broker. In a common process, the
 * JVM would compile the classes of Kafka Streams for both sides at once, and the quality of this code differs from run
 * to run.
 */
public final class ThroughputSide {
    /** The begin of an output line of the child that reports a round. */
    private static final String ROUND = "round ";

    static final List<String> HEAP = List.of("-Xms2g", "-Xmx2g");

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Task task;
    private final ServerSettings settings;

    private ThroughputSide(Task task) {
        this.task = task;
        this.settings = new ServerSettings(
                task.schemaRegistry(),
                Optional.ofNullable(task.commitIntervalMillis()).map(Duration::ofMillis));
    }

    /**
     * The work of one process.
     *
     * @param schemaId of events in the schema registry
     * @param commitIntervalMillis null for the topology's default
     * @param sizes of the records that the bare job moves; null for the topology's side
     */
    record Task(
            int events,
            int schemaId,
            String schemaRegistry,
            @Nullable Long commitIntervalMillis,
            int rounds,
            BareJob.@Nullable Sizes sizes) {
        Task withSizes(BareJob.Sizes sizes) {
            return new Task(events, schemaId, schemaRegistry, commitIntervalMillis, rounds, sizes);
        }
    }

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
    static List<Round> run(Task task, Consumer<Round> progress) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(HEAP);
        // Each process gets the options that the launcher gave to the parent, for example for a flight recorder.
        String javaOptions = System.getenv().getOrDefault("PURI_JAVA_OPTS", "").strip();
        options.addAll(javaOptions.isEmpty() ? List.of() : List.of(javaOptions.split(" +", -1)));
        List<Round> rounds = new ArrayList<>();
        List<String> arguments = List.of(MAPPER.writeValueAsString(task));
        try (ChildJvm child = ChildJvm.start(options, Map.of(), ThroughputSide.class, arguments)) {
            for (String line = child.next(ROUND); line != null; line = child.next(ROUND)) {
                rounds.add(MAPPER.readValue(line, Round.class));
                progress.accept(rounds.getLast());
            }
            int status = child.awaitExit();
            if (status != 0 || rounds.size() != task.rounds()) {
                throw new IOException("the process of a side ended with status " + status + " after " + rounds.size()
                        + " of " + task.rounds() + " rounds");
            }
            return rounds;
        }
    }

    /** Runs the {@link Task} in the argument, which is JSON, and prints each round. */
    public static void main(String[] args) {
        ChildJvm.endWithParent();
        int status = 1;
        try {
            ThroughputSide side = new ThroughputSide(MAPPER.readValue(args[0], Task.class));
            for (int round = 1; round <= side.task.rounds(); round++) {
                System.out.println(ROUND + MAPPER.writeValueAsString(side.runRound()));
            }
            status = 0;
        } catch (Exception | LinkageError e) {
            System.err.println("a round failed: " + e);
        } finally {
            System.exit(status);
        }
    }

    private Round runRound() throws Exception {
        return task.sizes() == null ? runTopology() : runBareJob(task.sizes());
    }

    private Round runTopology() throws Exception {
        try (FreshBroker broker = startBroker();
                RateReader reader = new RateReader(broker, Topics.IDENTITIES)) {
            StreamsSettings streams = settings.topology(broker);
            try (RegistryStreams service = RegistryStreams.start(streams)) {
                RateReader.Rate rate =
                        reader.read(task.events(), () -> !service.ended().isDone());
                // A row is visible only after the commit of its tally, so the tally includes all rows that were read.
                if (service.counts().applied() != task.events()) {
                    throw new IllegalStateException("not all events were applied: " + service.counts());
                }
                BareJob.Sizes sizes = BareJob.Sizes.read(broker, streams.streamsApplicationId());
                return new Round(rate.perSecond(), rate.cpuMicros(), broker.logBytes(), sizes);
            }
        }
    }

    private Round runBareJob(BareJob.Sizes sizes) throws Exception {
        try (FreshBroker broker = startBroker();
                RateReader reader = new RateReader(broker, Topics.IDENTITIES)) {
            broker.createTopic(BareJob.CLAIMS, BareJob.CLAIMS_CONFIGS);
            try (Instance job = Instance.ofBareJob(settings.topology(broker), sizes)) {
                RateReader.Rate rate = reader.read(task.events(), job::isRunning);
                return new Round(rate.perSecond(), rate.cpuMicros(), broker.logBytes(), null);
            }
        }
    }

    /** Returns a broker with the events, and with the declaration that their handles need. */
    private FreshBroker startBroker() throws Exception {
        // So this round does not pay for the garbage of the last one.
        System.gc();
        return FreshBroker.filled(broker -> {
            settings.declare(broker, Creations.collection(false));
            new Creations().publish(broker, task.events(), task.schemaId());
        });
    }
}
