package dev.puri.benchmarks.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.data.Creations;
import dev.puri.benchmarks.environment.ChildJvm;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.LocalSchemaRegistry;
import dev.puri.benchmarks.environment.ServerSettings;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.function.BooleanSupplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;

/**
 * A Kafka Streams job: the topology, or the baseline. Each job has processes of its own, which also contain the broker.
 * In a common process, the JVM would compile the classes of Kafka Streams for both jobs at once, and the quality of
 * this code differs from run to run.
 *
 * @param schemaId of events in the schema registry
 * @param commitIntervalMillis null for the topology's default
 * @param sizes of the records that the bare job moves; null for the topology
 */
record Job(String schemaRegistry, int schemaId, @Nullable Long commitIntervalMillis, BareJob.@Nullable Sizes sizes) {
    private static final List<String> HEAP = List.of("-Xms2g", "-Xmx2g");
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** An instance of the job in this process. */
    record Instance(BooleanSupplier running, Runnable stop) implements AutoCloseable {
        /** Whether the instance has neither failed nor stopped. */
        boolean isRunning() {
            return running.getAsBoolean();
        }

        /** Commits and stops. */
        @Override
        public void close() {
            stop.run();
        }
    }

    /** The work of a process. */
    interface Work<T> {
        /**
         * Measures, and prints results.
         *
         * @param requests lines from the parent
         */
        void run(Job job, T task, BlockingQueue<String> requests) throws Exception;
    }

    static Job topology(LocalSchemaRegistry registry, @Nullable Long commitIntervalMillis) {
        return new Job(registry.url(), registry.eventSchemaId(), commitIntervalMillis, null);
    }

    /** Returns the baseline, which moves records of these sizes. */
    Job baseline(BareJob.@Nullable Sizes sizes) {
        return new Job(schemaRegistry, schemaId, commitIntervalMillis, Objects.requireNonNull(sizes));
    }

    /** Starts a process whose main class {@linkplain #runInChild runs} a task with this job. */
    ChildJvm startChild(Class<?> main, Object task) throws IOException {
        List<String> options = new ArrayList<>(HEAP);
        // Each process gets the options that the launcher gave to the parent, for example for a flight recorder.
        String javaOptions = System.getenv().getOrDefault("PURI_JAVA_OPTS", "").strip();
        options.addAll(javaOptions.isEmpty() ? List.of() : List.of(javaOptions.split(" +", -1)));
        List<String> arguments = List.of(MAPPER.writeValueAsString(this), MAPPER.writeValueAsString(task));
        return ChildJvm.start(options, Map.of(), main, arguments);
    }

    /** Runs the task in the arguments, which are JSON, and ends this process. */
    static <T> void runInChild(String[] args, Class<T> taskType, Work<T> work) {
        BlockingQueue<String> requests = ChildJvm.endWithParent();
        int status = 1;
        try {
            work.run(MAPPER.readValue(args[0], Job.class), MAPPER.readValue(args[1], taskType), requests);
            status = 0;
        } catch (Exception | LinkageError e) {
            System.err.println("a side failed: " + e);
        } finally {
            System.exit(status);
        }
    }

    ServerSettings settings() {
        return new ServerSettings(schemaRegistry, commitIntervalMillis);
    }

    /** Prepares a broker for the creations. */
    void prepare(FreshBroker broker) throws Exception {
        if (sizes == null) {
            settings().declare(broker, Creations.collection(false));
        } else {
            broker.createTopic(BareJob.CLAIMS, BareJob.CLAIMS_CONFIGS);
        }
    }

    Instance start(StreamsSettings settings) {
        if (sizes == null) {
            RegistryStreams service = RegistryStreams.start(settings);
            return new Instance(() -> !service.ended().isDone(), service::close);
        }
        KafkaStreams job = new KafkaStreams(BareJob.topology(sizes), BareJob.properties(settings));
        job.setUncaughtExceptionHandler(e -> {
            System.err.println("the bare job failed: " + e);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        job.start();
        return new Instance(() -> !job.state().hasStartedOrFinishedShuttingDown(), () -> {
            if (!job.close(Duration.ofSeconds(60))) {
                throw new IllegalStateException("the bare job did not stop");
            }
        });
    }

    String applicationId(StreamsSettings settings) {
        return sizes == null ? settings.streamsApplicationId() : BareJob.APPLICATION_ID;
    }

    /** Reads the sizes of the topology's records; returns null for the bare job. */
    BareJob.@Nullable Sizes readSizes(FreshBroker broker, StreamsSettings settings) throws IOException {
        return sizes == null ? BareJob.Sizes.read(broker, settings.streamsApplicationId()) : null;
    }
}
