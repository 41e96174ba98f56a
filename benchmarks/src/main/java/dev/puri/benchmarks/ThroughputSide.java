package dev.puri.benchmarks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.log.Topics;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;

/**
 * One side of {@link Throughput} in a process of its own, with its broker. If both sides shared a process, the JVM would
 * compile the classes of Kafka Streams for both at once, with a quality that differs from run to run.
 */
public final class ThroughputSide {
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(60);

    /** Begins a line of the child's output that reports a round. */
    private static final String ROUND = "round ";

    private static final List<String> HEAP = List.of("-Xms2g", "-Xmx2g");

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Task task;
    private final Creations.Encoded events;
    private final Configuration configuration;

    private ThroughputSide(Task task) {
        this.task = task;
        this.events = new Creations.Encoded(task.events(), task.schemaId());
        this.configuration = new Configuration(
                task.schemaRegistry(),
                Optional.ofNullable(task.commitIntervalMillis()).map(Duration::ofMillis));
    }

    /**
     * The work of one process.
     *
     * @param schemaId of events, in that schema registry
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
        Task withSizes(BareJob.Sizes read) {
            return new Task(events, schemaId, schemaRegistry, commitIntervalMillis, rounds, read);
        }
    }

    /**
     * The figures of one round.
     *
     * @param cpuMicros processor time of the process for each event
     * @param bytesLogged by the broker
     * @param sizes of the topology's records; null of a round of the bare job
     */
    record Round(double perSecond, double cpuMicros, long bytesLogged, BareJob.@Nullable Sizes sizes) {
        String text() {
            return "%,.0f/s, %.1f µs of processor each, %,d MB logged"
                    .formatted(perSecond, cpuMicros, bytesLogged / 1_000_000);
        }
    }

    /** Runs the rounds of a task in a new process. */
    static List<Round> run(Task task, Consumer<Round> progress) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(HEAP);
        // The launcher passes these to the parent; a flight recorder, for example, is wanted in every process.
        options.addAll(
                Arrays.stream(System.getenv().getOrDefault("PURI_JAVA_OPTS", "").split(" ", -1))
                        .filter(option -> !option.isEmpty())
                        .toList());
        List<String> arguments = List.of(MAPPER.writeValueAsString(task));
        Process process = new ProcessBuilder(ChildJvm.command(options, ThroughputSide.class, arguments))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<Round> rounds = new ArrayList<>();
        try (BufferedReader printed = process.inputReader()) {
            for (String line = printed.readLine(); line != null; line = printed.readLine()) {
                if (line.startsWith(ROUND)) {
                    Round round = MAPPER.readValue(line.substring(ROUND.length()), Round.class);
                    rounds.add(round);
                    progress.accept(round);
                }
            }
            int status = process.waitFor();
            if (status != 0 || rounds.size() != task.rounds()) {
                throw new IOException("a side ended with status " + status + " after " + rounds.size() + " of "
                        + task.rounds() + " rounds");
            }
            return rounds;
        } finally {
            process.destroyForcibly();
        }
    }

    /** Runs the {@link Task} that the argument has as JSON, and prints each round. */
    public static void main(String[] args) {
        ChildJvm.endWithParent();
        int status = 1;
        try {
            ThroughputSide side = new ThroughputSide(MAPPER.readValue(args[0], Task.class));
            for (int round = 1; round <= side.task.rounds(); round++) {
                print(side.round());
            }
            status = 0;
        } catch (Exception | LinkageError e) {
            System.err.println("a round failed: " + e);
        } finally {
            System.exit(status);
        }
    }

    private static void print(Round round) throws JsonProcessingException {
        System.out.println(ROUND + MAPPER.writeValueAsString(round));
    }

    private Round round() throws Exception {
        return task.sizes() == null ? ofTopology() : ofBareJob(task.sizes());
    }

    private Round ofTopology() throws Exception {
        try (FreshBroker broker = prepared();
                Drain drain = new Drain(broker.bootstrapServers(), Topics.IDENTITIES)) {
            StreamsSettings settings = configuration.of(broker);
            try (RegistryStreams service = RegistryStreams.start(settings)) {
                Drain.Pace pace =
                        drain.paceOf(events.count(), () -> !service.ended().isDone());
                // The tally is updated with each record, and a row is visible only after the commit, so the tally has
                // all
                // visible rows.
                if (service.counts().applied() != events.count()) {
                    throw new IllegalStateException("not all events were applied: " + service.counts());
                }
                BareJob.Sizes sizes = BareJob.Sizes.read(broker.bootstrapServers(), settings.streamsApplicationId());
                return new Round(pace.perSecond(), pace.cpuMicros(), broker.bytesLogged(), sizes);
            }
        }
    }

    private Round ofBareJob(BareJob.Sizes sizes) throws Exception {
        try (FreshBroker broker = prepared();
                Drain drain = new Drain(broker.bootstrapServers(), Topics.IDENTITIES)) {
            StreamsSettings same = configuration.of(broker);
            broker.createTopic(BareJob.CLAIMS, BareJob.CLAIMS_CONFIGS);
            try (KafkaStreams job = new KafkaStreams(BareJob.topology(sizes), BareJob.properties(same))) {
                job.setUncaughtExceptionHandler(e -> {
                    System.err.println("the bare job failed: " + e);
                    return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
                });
                job.start();
                Drain.Pace pace =
                        drain.paceOf(events.count(), () -> !job.state().hasStartedOrFinishedShuttingDown());
                long logged = broker.bytesLogged();
                if (!job.close(CLOSE_WITHIN)) {
                    throw new IllegalStateException("the bare job did not stop");
                }
                return new Round(pace.perSecond(), pace.cpuMicros(), logged, null);
            }
        }
    }

    /** Returns a broker with the events and the declaration that their handles need. */
    private FreshBroker prepared() throws Exception {
        // Otherwise this round would collect the garbage of the last one.
        System.gc();
        FreshBroker broker = FreshBroker.start();
        try {
            configuration.declare(broker, Creations.COLLECTION);
            events.publish(broker.bootstrapServers());
            return broker;
        } catch (Exception e) {
            broker.close();
            throw e;
        }
    }
}
