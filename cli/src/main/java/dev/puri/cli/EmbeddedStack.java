package dev.puri.cli;

import dev.puri.embedded.EmbeddedBroker;
import dev.puri.embedded.EmbeddedRegistry;
import dev.puri.registry.RegistryStreams;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import dev.puri.tail.ResourceStack;
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
 * The whole registry on one machine: broker, schema registry, topology, resolver and search indexer, all
 * on the loopback interface.
 *
 * <pre>
 * broker ──────────┬─▶ topics ─┬▶ topology ─┬─▶ ready
 * schema registry ─┘           ├▶ resolver ─┤
 *                              └▶ indexer ──┘
 * </pre>
 */
public final class EmbeddedStack implements AutoCloseable {
    /** Starting fails after this time without progress. */
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(60);

    private static final Duration REPORT_INTERVAL = Duration.ofSeconds(5);

    /** Closed in reverse order. */
    private final ResourceStack resources = new ResourceStack();

    private final EmbeddedBroker broker;
    private final EmbeddedRegistry registry;
    private final RegistryStreams streams;
    private final Resolver resolver;
    private final SearchServer indexer;

    /**
     * Directory and ports of a stack; port 0 means any free one.
     *
     * @param data directory for the data, which is reused by the next start
     * @param port the resolver's port
     * @param publicPort the port of the resolver's public listener
     * @param searchPort the indexer's port
     */
    public record Options(Path data, int port, int publicPort, int searchPort, int kafkaPort, int registryPort) {
        /** Uses free ports for all servers. */
        public static Options onFreePorts(Path data) {
            return new Options(data, 0, 0, 0, 0, 0);
        }
    }

    private EmbeddedStack(Options options, StackSettings settings, Consumer<String> progress) {
        // Checked first, because some ports are bound only after a long time.
        requireFree("resolver", "--port", options.port());
        requireFree("resolver", "--public-port", options.publicPort());
        requireFree("search indexer", "--search-port", options.searchPort());
        requireFree("broker", "--kafka-port", options.kafkaPort());
        requireFree("schema registry", "--registry-port", options.registryPort());
        settings.check(Map.of(
                StreamsSettings.class,
                fixedForStreams(options, CliSettings.BOOTSTRAP_SERVER, CliSettings.SCHEMA_REGISTRY),
                ResolverSettings.class,
                fixedForResolver(
                        options, CliSettings.BOOTSTRAP_SERVER, CliSettings.SCHEMA_REGISTRY, CliSettings.SEARCH),
                SearchSettings.class,
                fixedForIndexer(options, CliSettings.BOOTSTRAP_SERVER, CliSettings.SCHEMA_REGISTRY)));
        boolean started = false;
        try {
            progress.accept("starting a Kafka broker and a schema registry");
            // Started concurrently; each takes seconds, mostly on one core.
            CompletableFuture<EmbeddedRegistry> starting = inBackground(() -> timed(
                    "schema registry",
                    progress,
                    () -> EmbeddedRegistry.start(options.data().resolve("registry"), options.registryPort())));
            try {
                broker = register(timed(
                        "broker",
                        progress,
                        () -> EmbeddedBroker.start(options.data().resolve("kafka"), options.kafkaPort())));
            } finally {
                // Also if the broker failed, so that close() ends the registry's process.
                registry = register(joined(starting));
            }
            createTopics();
            progress.accept("starting the topology, a resolver and a search indexer");
            streams = register(RegistryStreams.start(settings.read(
                    StreamsSettings.class, fixedForStreams(options, bootstrapServers(), schemaRegistry()))));
            indexer = register(SearchServer.start(settings.read(
                    SearchSettings.class, fixedForIndexer(options, bootstrapServers(), schemaRegistry()))));
            resolver = register(Resolver.start(settings.read(
                    ResolverSettings.class,
                    fixedForResolver(options, bootstrapServers(), schemaRegistry(), search()))));
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
     * Starts all servers; they are ready when this returns.
     *
     * @param progress receives messages about the progress
     * @throws dev.puri.settings.InvalidSettingsException listing every mistake
     * @throws dev.puri.embedded.EmbeddedException if a port or the directory is in use, or a server fails
     * @throws CommandException if they do not become ready
     */
    static EmbeddedStack start(Options options, StackSettings settings, Consumer<String> progress) {
        return new EmbeddedStack(options, settings, progress);
    }

    /**
     * @throws CommandException if it is not a port number
     */
    static void requirePort(String flag, int port) {
        if (port < 0 || port > 65_535) {
            throw CommandException.usage(flag + ": 0 to 65535, not " + port);
        }
    }

    private static void requireFree(String what, String flag, int port) {
        if (!isFree(port)) {
            throw CommandException.failed(
                    "the " + what + " cannot listen on 127.0.0.1:" + port
                            + ": something else does; stop that or choose another port with " + flag,
                    null);
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

    private <T extends AutoCloseable> T register(T part) {
        return resources.add(part, EmbeddedStack::close);
    }

    private static void close(AutoCloseable part) {
        try {
            part.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static <T> T timed(String what, Consumer<String> progress, Supplier<T> task) {
        long started = System.nanoTime();
        T result = task.get();
        progress.accept(String.format("the %s runs after %.1f s", what, (System.nanoTime() - started) / 1e9));
        return result;
    }

    private static <T> CompletableFuture<T> inBackground(Supplier<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().name("start-schema-registry").daemon().start(() -> {
            try {
                result.complete(task.get());
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static <T> T joined(CompletableFuture<T> future) {
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

    private static Map<String, String> fixedForStreams(Options options, String brokers, String schemas) {
        return Map.of(
                "bootstrap.server",
                brokers,
                "schema.registry",
                schemas,
                "streams.state.dir",
                options.data().resolve("streams").toString(),
                "streams.replication.factor",
                "1",
                "streams.http.port",
                "0");
    }

    private static Map<String, String> fixedForResolver(
            Options options, String brokers, String schemas, String search) {
        return Map.of(
                "bootstrap.server",
                brokers,
                "schema.registry",
                schemas,
                "state.dir",
                options.data().resolve("resolver").toString(),
                "search.url",
                search,
                "http.port",
                Integer.toString(options.port()),
                "public.http.port",
                Integer.toString(options.publicPort()));
    }

    private static Map<String, String> fixedForIndexer(Options options, String brokers, String schemas) {
        return Map.of(
                "bootstrap.server",
                brokers,
                "schema.registry",
                schemas,
                "state.dir",
                options.data().resolve("search").toString(),
                "http.port",
                Integer.toString(options.searchPort()));
    }

    private void awaitReady(Consumer<String> progress) {
        new Readiness(STALL_TIMEOUT, REPORT_INTERVAL, broker::deliveredBytes, streams.ended(), progress)
                .await(List.of(
                        new Readiness.Server(
                                "topology", streams::isReady, health("http://127.0.0.1:" + streams.port())),
                        new Readiness.Server("resolver", resolver::isReady, health(resolver())),
                        new Readiness.Server("search indexer", indexer::isReady, health(search()))));
    }

    private static URI health(String server) {
        return URI.create(server + "/health/ready");
    }

    /** Completes when the topology ends, or exceptionally when it fails. */
    CompletableFuture<Void> ended() {
        return streams.ended();
    }

    /** The broker, as {@code host:port}. */
    public String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** The base of the schema registry's Confluent API. */
    public String schemaRegistry() {
        return registry.url();
    }

    /** The base of the resolver's API, e.g. {@code http://127.0.0.1:8080}. */
    public String resolver() {
        return "http://127.0.0.1:" + resolver.port();
    }

    /** The base of the resolver's public API, e.g. {@code http://127.0.0.1:8090}. */
    public String publicResolver() {
        return "http://127.0.0.1:" + resolver.publicPort().orElseThrow();
    }

    /** The base of the search indexer's API, e.g. {@code http://127.0.0.1:8083}. */
    public String search() {
        return "http://127.0.0.1:" + indexer.port();
    }

    /** Stops all servers in order, also if stopping one fails. */
    @Override
    public void close() {
        resources.close();
    }
}
