package dev.puri.client.testing;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.startupcheck.OneShotStartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.lifecycle.Startable;
import org.testcontainers.lifecycle.Startables;
import org.testcontainers.utility.DockerImageName;

/**
 * Runs a complete identity registry with Testcontainers: a broker, a schema registry, and a container for each server
 * of the identity registry, with the same settings as in {@code docker-compose.yml}. Needs {@code
 * org.testcontainers:testcontainers-kafka} on the class path.
 *
 * <pre>{@code
 * static final RegistryContainers REGISTRY = new RegistryContainers("puri:0.1.0-SNAPSHOT");
 * }</pre>
 */
public final class RegistryContainers implements Registry, Startable {
    /** Name of the image of the repository's Dockerfile, as in docker-compose.yml. */
    static final String IMAGE = "puri:0.1.0-SNAPSHOT";

    static final String BROKER_IMAGE = "apache/kafka:4.3.1";
    static final String SCHEMA_REGISTRY_IMAGE = "apicurio/apicurio-registry:3.3.3";
    static final Map<String, String> BROKER_ENV = Map.of(
            "KAFKA_AUTO_CREATE_TOPICS_ENABLE", "\"false\"",
            "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS", "0",
            "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR", "1",
            "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR", "1",
            "KAFKA_ADD_PARTITIONS_TO_TXN_RETRY_BACKOFF_MS", "2",
            "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR", "1",
            "KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR", "1");
    static final Map<String, String> COMMON_ENV = Map.of(
            "PURI_BOOTSTRAP_SERVER",
            "broker:19092",
            "PURI_SCHEMA_REGISTRY",
            "http://schema-registry:8080/apis/ccompat/v7");
    static final List<String> CREATE_TOPICS_COMMAND = List.of("topics", "create", "--replication-factor", "1");
    static final Map<String, String> STREAMS_ENV =
            Map.of("PURI_STREAMS_HTTP_HOST", "0.0.0.0", "PURI_STREAMS_STATE_DIR", "/var/lib/puri");
    static final Map<String, String> INDEXER_ENV =
            Map.of("PURI_HTTP_HOST", "0.0.0.0", "PURI_STATE_DIR", "/var/lib/puri");
    static final Map<String, String> RESOLVER_ENV = Map.of(
            "PURI_HTTP_HOST",
            "0.0.0.0",
            "PURI_PUBLIC_HTTP_HOST",
            "0.0.0.0",
            "PURI_PUBLIC_HTTP_PORT",
            "8090",
            "PURI_SEARCH_URL",
            "http://indexer:8083",
            "PURI_STATE_DIR",
            "/var/lib/puri");

    private static final int RESOLVER_PORT = 8080;
    private static final int PUBLIC_PORT = 8090;
    private static final int STREAMS_PORT = 8082;
    private static final int INDEXER_PORT = 8083;
    private static final int SCHEMA_REGISTRY_PORT = 8080;
    private static final String SCHEMA_REGISTRY_API = "/apis/ccompat/v7";
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);

    private final Network network = Network.newNetwork();
    private final KafkaContainer broker;
    private final GenericContainer<?> schemaRegistry;
    private final GenericContainer<?> topicsJob;
    private final GenericContainer<?> streams;
    private final GenericContainer<?> indexer;
    private final GenericContainer<?> resolver;

    /**
     * Configures the containers, but does not start them.
     *
     * @param image name of an image that was built from the repository's Dockerfile
     */
    public RegistryContainers(String image) {
        Map<String, String> brokerEnv = new HashMap<>(BROKER_ENV);
        // The values have the quotes of docker-compose.yml, which a container must not get.
        brokerEnv.replaceAll((name, value) -> value.replace("\"", ""));
        broker = new KafkaContainer(BROKER_IMAGE)
                .withNetwork(network)
                .withListener(COMMON_ENV.get("PURI_BOOTSTRAP_SERVER"))
                .withEnv(brokerEnv);
        schemaRegistry = new GenericContainer<>(DockerImageName.parse(SCHEMA_REGISTRY_IMAGE))
                .withNetwork(network)
                .withNetworkAliases("schema-registry")
                .withExposedPorts(SCHEMA_REGISTRY_PORT)
                .waitingFor(Wait.forHttp(SCHEMA_REGISTRY_API + "/subjects").withStartupTimeout(START_TIMEOUT));
        topicsJob = new GenericContainer<>(DockerImageName.parse(image))
                .withNetwork(network)
                .withEnv(COMMON_ENV)
                .withCommand(CREATE_TOPICS_COMMAND.toArray(String[]::new))
                .withStartupCheckStrategy(new OneShotStartupCheckStrategy().withTimeout(START_TIMEOUT));
        streams = server(image, "streams", STREAMS_ENV, STREAMS_PORT);
        indexer = server(image, "indexer", INDEXER_ENV, INDEXER_PORT);
        resolver = server(image, "resolver", RESOLVER_ENV, RESOLVER_PORT).withExposedPorts(RESOLVER_PORT, PUBLIC_PORT);
    }

    private GenericContainer<?> server(String image, String command, Map<String, String> settings, int port) {
        return new GenericContainer<>(DockerImageName.parse(image))
                .withNetwork(network)
                .withNetworkAliases(command)
                .withEnv(COMMON_ENV)
                .withEnv(settings)
                .withCommand(command)
                .withExposedPorts(port)
                .waitingFor(Wait.forHttp("/health/ready").forPort(port).withStartupTimeout(START_TIMEOUT));
    }

    /** Returns whether a Docker engine responds. */
    static boolean isDockerAvailable() {
        return DockerClientFactory.instance().isDockerAvailable();
    }

    /** Starts all containers and returns when they are ready. */
    @Override
    public void start() {
        Startables.deepStart(broker, schemaRegistry).join();
        topicsJob.start();
        Startables.deepStart(streams, indexer, resolver).join();
    }

    @Override
    public void stop() {
        List.of(resolver, indexer, streams, topicsJob, schemaRegistry, broker).forEach(GenericContainer::stop);
        network.close();
    }

    @Override
    public String bootstrapServers() {
        return broker.getBootstrapServers().replace("PLAINTEXT://", "");
    }

    @Override
    public String schemaRegistryUrl() {
        return url(schemaRegistry, SCHEMA_REGISTRY_PORT) + SCHEMA_REGISTRY_API;
    }

    @Override
    public String resolverUrl() {
        return url(resolver, RESOLVER_PORT);
    }

    @Override
    public String publicUrl() {
        return url(resolver, PUBLIC_PORT);
    }

    @Override
    public String searchUrl() {
        return url(indexer, INDEXER_PORT);
    }

    private static String url(GenericContainer<?> container, int port) {
        return "http://" + container.getHost() + ':' + container.getMappedPort(port);
    }

    @Override
    public String toString() {
        return resolver.isRunning() ? "containers at " + resolverUrl() : "containers that are not started";
    }
}
