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
    /** Without any progress for so long, it will not become ready. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration REPORT_EVERY = Duration.ofSeconds(5);

    /** Closed from the last to the first. */
    private final ResourceStack resources = new ResourceStack();

    private final EmbeddedBroker broker;
    private final EmbeddedRegistry registry;
    private final RegistryStreams streams;
    private final Resolver resolver;
    private final SearchServer indexer;

    /**
     * Where it keeps its data and listens.
     *
     * @param data its directory; what is in it is kept from one start to the next
     * @param port the resolver's; 0, here as for the others, takes a free one
     * @param publicPort of the resolver's public listener
     * @param searchPort the indexer's
     */
    public record Place(Path data, int port, int publicPort, int searchPort, int kafkaPort, int registryPort) {
        /** Free ports for everything. */
        public static Place anywhere(Path data) {
            return new Place(data, 0, 0, 0, 0, 0);
        }
    }

    private EmbeddedStack(Place place, StackSettings settings, Consumer<String> progress) {
        // Some are bound last, and nobody should wait so long to hear that one is taken.
        requireFree("resolver", "--port", place.port());
        requireFree("resolver", "--public-port", place.publicPort());
        requireFree("search indexer", "--search-port", place.searchPort());
        requireFree("broker", "--kafka-port", place.kafkaPort());
        requireFree("schema registry", "--registry-port", place.registryPort());
        settings.check(Map.of(
                StreamsSettings.class,
                decidedForStreams(place, CliSettings.BOOTSTRAP_SERVER, CliSettings.SCHEMA_REGISTRY),
                ResolverSettings.class,
                decidedForResolver(
                        place, CliSettings.BOOTSTRAP_SERVER, CliSettings.SCHEMA_REGISTRY, CliSettings.SEARCH),
                SearchSettings.class,
                decidedForIndexer(place, CliSettings.BOOTSTRAP_SERVER, CliSettings.SCHEMA_REGISTRY)));
        boolean started = false;
        try {
            progress.accept("starting a Kafka broker and a schema registry");
            // Both take seconds, most of them on one core each.
            CompletableFuture<EmbeddedRegistry> starting = inBackground(() -> timed(
                    "schema registry",
                    progress,
                    () -> EmbeddedRegistry.start(place.data().resolve("registry"), place.registryPort())));
            try {
                broker = opened(timed(
                        "broker",
                        progress,
                        () -> EmbeddedBroker.start(place.data().resolve("kafka"), place.kafkaPort())));
            } finally {
                // Whatever became of the broker, this child must be known, to be closed.
                registry = opened(joined(starting));
            }
            createTopics();
            progress.accept("starting the topology, a resolver and a search indexer");
            streams = opened(RegistryStreams.start(settings.read(
                    StreamsSettings.class, decidedForStreams(place, bootstrapServers(), schemaRegistry()))));
            indexer = opened(SearchServer.start(settings.read(
                    SearchSettings.class, decidedForIndexer(place, bootstrapServers(), schemaRegistry()))));
            resolver = opened(Resolver.start(settings.read(
                    ResolverSettings.class,
                    decidedForResolver(place, bootstrapServers(), schemaRegistry(), search()))));
            awaitReady(progress);
            started = true;
        } finally {
            if (!started) {
                close();
            }
        }
    }

    /** Starts everything with the servers' defaults. */
    static EmbeddedStack start(Place place, Consumer<String> progress) {
        return start(place, new StackSettings(), progress);
    }

    /**
     * Starts everything and returns when it answers.
     *
     * @param progress is told what is being done and how long it took, for people
     * @throws dev.puri.http.InvalidSettingsException listing every mistake
     * @throws dev.puri.embedded.EmbeddedException when a port or the directory is in use, or a part fails
     * @throws CommandException when it does not become ready
     */
    static EmbeddedStack start(Place place, StackSettings settings, Consumer<String> progress) {
        return new EmbeddedStack(place, settings, progress);
    }

    /**
     * @throws CommandException when it is no port number
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

    /** Whether nothing listens on a port of the loopback interface now; 0 always is. */
    static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private <T extends AutoCloseable> T opened(T part) {
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

    private static Map<String, String> decidedForStreams(Place place, String brokers, String schemas) {
        return Map.of(
                "bootstrap.server",
                brokers,
                "schema.registry",
                schemas,
                "streams.state.dir",
                place.data().resolve("streams").toString(),
                "streams.replication.factor",
                "1",
                "streams.http.port",
                "0");
    }

    private static Map<String, String> decidedForResolver(Place place, String brokers, String schemas, String search) {
        return Map.of(
                "bootstrap.server",
                brokers,
                "schema.registry",
                schemas,
                "state.dir",
                place.data().resolve("resolver").toString(),
                "search.url",
                search,
                "http.port",
                Integer.toString(place.port()),
                "public.http.port",
                Integer.toString(place.publicPort()));
    }

    private static Map<String, String> decidedForIndexer(Place place, String brokers, String schemas) {
        return Map.of(
                "bootstrap.server",
                brokers,
                "schema.registry",
                schemas,
                "state.dir",
                place.data().resolve("search").toString(),
                "http.port",
                Integer.toString(place.searchPort()));
    }

    private void awaitReady(Consumer<String> progress) {
        new Readiness(PATIENCE, REPORT_EVERY, broker::deliveredBytes, streams.ended(), progress)
                .await(List.of(
                        new Readiness.Part("topology", streams::isReady, health("http://127.0.0.1:" + streams.port())),
                        new Readiness.Part("resolver", resolver::isReady, health(resolver())),
                        new Readiness.Part("search indexer", indexer::isReady, health(search()))));
    }

    private static URI health(String server) {
        return URI.create(server + "/health/ready");
    }

    /** Completes when the topology ends; exceptionally when it failed, which leaves a registry that does nothing. */
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

    /** Stops everything in order; what could not be closed does not keep the rest open. */
    @Override
    public void close() {
        resources.close();
    }
}
