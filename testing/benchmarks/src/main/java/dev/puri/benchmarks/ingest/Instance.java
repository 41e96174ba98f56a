package dev.puri.benchmarks.ingest;

import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import java.time.Duration;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;

/** An instance of a Kafka Streams job in this process: of the topology, or of the baseline. */
interface Instance extends AutoCloseable {
    /** Whether the instance has neither failed nor stopped. */
    boolean isRunning();

    /** Commits and stops. */
    @Override
    void close();

    /** Starts an instance of the topology. */
    static Instance ofTopology(StreamsSettings settings) {
        RegistryStreams service = RegistryStreams.start(settings);
        return new Instance() {
            @Override
            public boolean isRunning() {
                return !service.ended().isDone();
            }

            @Override
            public void close() {
                service.close();
            }
        };
    }

    /** Starts an instance of the baseline, which writes records of these sizes. */
    static Instance ofBareJob(StreamsSettings settings, BareJob.Sizes sizes) {
        KafkaStreams job = new KafkaStreams(BareJob.topology(sizes), BareJob.properties(settings));
        job.setUncaughtExceptionHandler(e -> {
            System.err.println("the bare job failed: " + e);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        job.start();
        return new Instance() {
            @Override
            public boolean isRunning() {
                return !job.state().hasStartedOrFinishedShuttingDown();
            }

            @Override
            public void close() {
                if (!job.close(Duration.ofSeconds(60))) {
                    throw new IllegalStateException("the bare job did not stop");
                }
            }
        };
    }
}
