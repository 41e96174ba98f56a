package dev.puri.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.kafka.KafkaContainer;

/**
 * A broker that runs Kafka's official image in Docker. The host's port is fixed, so that a restart does not change it.
 */
final class DockerBroker implements RestartableBroker {
    private static final String IMAGE = "apache/kafka:4.3.1";
    private static final int CONTAINER_PORT = 9092;
    private static final int READY_SECONDS = 60;

    private final KafkaContainer container;

    DockerBroker() {
        if (!isAvailable()) {
            throw new IllegalStateException("-D" + FORM_PROPERTY
                    + "=docker requires a broker in Docker, but no Docker engine responds; start a Docker engine, or"
                    + " omit the property to test on the embedded broker");
        }
        container = new KafkaContainer(IMAGE)
                .withEnv(Map.of(
                        "KAFKA_AUTO_CREATE_TOPICS_ENABLE", "false",
                        "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0",
                        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR", "1",
                        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR", "1",
                        "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR", "1",
                        "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR", "1"));
        container.setPortBindings(List.of("127.0.0.1:" + freePort() + ":" + CONTAINER_PORT));
        container.start();
    }

    /** Whether a Docker engine responds. */
    static boolean isAvailable() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String bootstrapServers() {
        return container.getBootstrapServers().replace("PLAINTEXT://", "");
    }

    @Override
    public void stop() {
        // Uses Docker's own command, because container.stop() removes the container and its records.
        if (container.isRunning()) {
            container
                    .getDockerClient()
                    .stopContainerCmd(container.getContainerId())
                    .exec();
        }
    }

    @Override
    public void start() {
        if (container.isRunning()) {
            return;
        }
        container
                .getDockerClient()
                .startContainerCmd(container.getContainerId())
                .exec();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers()))) {
            admin.describeCluster().nodes().get(READY_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the broker started", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the broker in Docker did not start again: " + e, e);
        }
    }

    @Override
    public void close() {
        container.stop();
    }
}
