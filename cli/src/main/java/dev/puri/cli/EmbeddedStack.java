package dev.puri.cli;

import static java.util.Map.entry;

import dev.puri.embedded.EmbeddedBroker;
import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.projection.ResourceStack;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;

/**
 * All servers of an identity registry on the loopback interface of one machine: broker, schema registry, topology,
 * resolver and search indexer. The schema registry runs in a child process, the other servers in this process.
 *
 * <p>The diagram shows the order of the start:
 *
 * <pre>
 * broker ──────────┬─▶ topics ─▶ topology ─▶ indexer ─▶ resolver ─▶ all are ready
 * schema registry ─┘
 * </pre>
 */
public final class EmbeddedStack implements AutoCloseable {
    /** The start fails after this time without progress. */
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(60);

    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(5);

    /** Closed in reverse order. */
    private final ResourceStack resources = new ResourceStack();

    private final EmbeddedBroker broker;
    private final EmbeddedRegistry schemaRegistry;
    private final RegistryStreams streams;
    private final Resolver resolver;
    private final SearchServer indexer;

    /**
     * Directory and ports of a stack. Port 0 means any free port.
     *
     * @param data the directory of the data, which the next start reuses
     * @param publicPort the port of the resolver's public listener
     */
    public record Options(
            Path data, int resolverPort, int publicPort, int indexerPort, int kafkaPort, int schemaRegistryPort) {
        /**
         * @throws CommandException if a port is not a port number
         */
        public Options {
            requirePort("--port", resolverPort);
            requirePort("--public-port", publicPort);
            requirePort("--search-port", indexerPort);
            requirePort("--kafka-port", kafkaPort);
            requirePort("--registry-port", schemaRegistryPort);
        }

        private static void requirePort(String flag, int port) {
            CommandException.requireUsage(0 <= port && port <= 65_535, flag + " must be 0 to 65535, not " + port);
        }

        /** Uses free ports for all servers. */
        public static Options onFreePorts(Path data) {
            return new Options(data, 0, 0, 0, 0, 0);
        }
    }

    private EmbeddedStack(Options options, StackSettings settings, Consumer<String> progress) {
        // Ports are checked first, because some servers bind their port only after a long time.
        requireFree("resolver", "--port", options.resolverPort());
        requireFree("resolver", "--public-port", options.publicPort());
        requireFree("search indexer", "--search-port", options.indexerPort());
        requireFree("broker", "--kafka-port", options.kafkaPort());
        requireFree("schema registry", "--registry-port", options.schemaRegistryPort());
        // Checks the settings before any server starts. The addresses are not known yet, so the default addresses are
        // used instead.
        settings.check(Map.of(
                StreamsSettings.class,
                streamsSettings(options, CliSettings.DEFAULT_BOOTSTRAP_SERVER, CliSettings.DEFAULT_SCHEMA_REGISTRY),
                ResolverSettings.class,
                resolverSettings(
                        options,
                        CliSettings.DEFAULT_BOOTSTRAP_SERVER,
                        CliSettings.DEFAULT_SCHEMA_REGISTRY,
                        CliSettings.DEFAULT_SEARCH),
                SearchSettings.class,
                indexerSettings(options, CliSettings.DEFAULT_BOOTSTRAP_SERVER, CliSettings.DEFAULT_SCHEMA_REGISTRY)));
        boolean started = false;
        try {
            progress.accept("starting a Kafka broker and a schema registry");
            // Both start concurrently, because each start takes seconds and uses mostly one core.
            CompletableFuture<EmbeddedRegistry> schemaRegistryStart = inBackground(() -> timed(
                    "schema registry",
                    progress,
                    () -> EmbeddedRegistry.start(options.data().resolve("registry"), options.schemaRegistryPort())));
            try {
                broker = resources.add(
                        timed(
                                "broker",
                                progress,
                                () -> EmbeddedBroker.start(options.data().resolve("kafka"), options.kafkaPort())),
                        EmbeddedBroker::close);
            } finally {
                // Waits for the schema registry even if the broker failed, so that close() ends its process.
                schemaRegistry = resources.add(join(schemaRegistryStart), EmbeddedRegistry::close);
            }
            createTopics();
            progress.accept("starting the topology, a resolver and a search indexer");
            streams = resources.add(
                    RegistryStreams.start(settings.read(
                            StreamsSettings.class, streamsSettings(options, bootstrapServers(), schemaRegistryUrl()))),
                    RegistryStreams::close);
            indexer = resources.add(
                    SearchServer.start(settings.read(
                            SearchSettings.class, indexerSettings(options, bootstrapServers(), schemaRegistryUrl()))),
                    SearchServer::close);
            resolver = resources.add(
                    Resolver.start(settings.read(
                            ResolverSettings.class,
                            resolverSettings(options, bootstrapServers(), schemaRegistryUrl(), indexerUrl()))),
                    Resolver::close);
            awaitReady(progress);
            started = true;
        } finally {
            if (!started) {
                close();
            }
        }
    }

    /** Starts all servers with their default settings. */
    static EmbeddedStack start(Options options, Consumer<String> progress) {
        return start(options, new StackSettings(), progress);
    }

    /**
     * Starts all servers and returns when they are ready.
     *
     * @param progress receives messages about the progress of the start
     * @throws dev.puri.settings.InvalidSettingsException if settings are invalid; the message lists every mistake
     * @throws dev.puri.embedded.EmbeddedException if the directory is in use, or a server fails
     * @throws CommandException if a port is in use, or a server does not become ready
     */
    static EmbeddedStack start(Options options, StackSettings settings, Consumer<String> progress) {
        return new EmbeddedStack(options, settings, progress);
    }

    private static void requireFree(String server, String flag, int port) {
        if (!isFree(port)) {
            throw CommandException.failed("the " + server + " cannot listen on 127.0.0.1:" + port
                    + ", because the port is in use; stop the process that uses it, or choose another port with "
                    + flag);
        }
    }

    /** Whether a port of the loopback interface is free; 0 always is. */
    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static <T> T timed(String server, Consumer<String> progress, Supplier<T> start) {
        long startNanos = System.nanoTime();
        T result = start.get();
        progress.accept(String.format("the %s started in %.1f s", server, (System.nanoTime() - startNanos) / 1e9));
        return result;
    }

    private static <T> CompletableFuture<T> inBackground(Supplier<T> task) {
        return CompletableFuture.supplyAsync(
                task, Thread.ofPlatform().name("start-schema-registry").daemon()::start);
    }

    private static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private void createTopics() {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers()))) {
            RegistryTopics.create(admin, RegistryTopics.DEFAULT_PARTITIONS, (short) 1, Set.of());
        }
    }

    /** Returns the settings that this class determines for the topology, by key. They override all others. */
    private static Map<String, String> streamsSettings(
            Options options, String bootstrapServers, String schemaRegistryUrl) {
        return Map.ofEntries(
                entry("bootstrap.server", bootstrapServers),
                entry("schema.registry", schemaRegistryUrl),
                entry("streams.state.dir", options.data().resolve("streams").toString()),
                entry("streams.replication.factor", "1"),
                entry("streams.http.port", "0"));
    }

    /** Returns the settings that this class determines for the resolver, by key. They override all others. */
    private static Map<String, String> resolverSettings(
            Options options, String bootstrapServers, String schemaRegistryUrl, String indexerUrl) {
        return Map.ofEntries(
                entry("bootstrap.server", bootstrapServers),
                entry("schema.registry", schemaRegistryUrl),
                entry("state.dir", options.data().resolve("resolver").toString()),
                entry("search.url", indexerUrl),
                entry("http.port", Integer.toString(options.resolverPort())),
                entry("public.http.port", Integer.toString(options.publicPort())));
    }

    /** Returns the settings that this class determines for the search indexer, by key. They override all others. */
    private static Map<String, String> indexerSettings(
            Options options, String bootstrapServers, String schemaRegistryUrl) {
        return Map.ofEntries(
                entry("bootstrap.server", bootstrapServers),
                entry("schema.registry", schemaRegistryUrl),
                entry("state.dir", options.data().resolve("search").toString()),
                entry("http.port", Integer.toString(options.indexerPort())));
    }

    private void awaitReady(Consumer<String> progress) {
        new Readiness(STALL_TIMEOUT, REPORT_INTERVAL, broker::deliveredBytes, streams.ended(), progress)
                .await(List.of(
                        new Readiness.Server(
                                "topology", streams::isReady, healthUrl("http://127.0.0.1:" + streams.port())),
                        new Readiness.Server("resolver", resolver::isReady, healthUrl(resolverUrl())),
                        new Readiness.Server("search indexer", indexer::isReady, healthUrl(indexerUrl()))));
    }

    private static URI healthUrl(String serverUrl) {
        return URI.create(serverUrl + "/health/ready");
    }

    /** Returns a future that completes when the topology or the schema registry ends, exceptionally if it fails. */
    CompletableFuture<?> termination() {
        return CompletableFuture.anyOf(streams.ended(), schemaRegistry.ended());
    }

    /** Returns the address of the broker, as {@code host:port}. */
    public String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** Returns the base URL of the schema registry's Confluent API. */
    public String schemaRegistryUrl() {
        return schemaRegistry.url();
    }

    /** Returns the base URL of the resolver's API, e.g. {@code http://127.0.0.1:8080}. */
    public String resolverUrl() {
        return "http://127.0.0.1:" + resolver.port();
    }

    /** Returns the base URL of the resolver's public API, e.g. {@code http://127.0.0.1:8090}. */
    public String publicResolverUrl() {
        return "http://127.0.0.1:" + resolver.publicPort().orElseThrow();
    }

    /** Returns the base URL of the search indexer's API, e.g. {@code http://127.0.0.1:8083}. */
    public String indexerUrl() {
        return "http://127.0.0.1:" + indexer.port();
    }

    /** Stops all servers in the reverse order of their start, even if one of them fails to stop. */
    @Override
    public void close() {
        resources.close();
    }
}
