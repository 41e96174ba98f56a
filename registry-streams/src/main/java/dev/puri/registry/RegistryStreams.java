package dev.puri.registry;

import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import dev.puri.projection.AdminClients;
import dev.puri.projection.DigestMeters;
import dev.puri.projection.ResourceStack;
import dev.puri.projection.transactions.TransactionMonitor;
import dev.puri.registry.TopologySupervisor.Failed;
import dev.puri.registry.TopologySupervisor.Instance;
import dev.puri.registry.TopologySupervisor.Started;
import dev.puri.registry.TopologySupervisor.Starting;
import dev.puri.registry.TopologySupervisor.State;
import dev.puri.registry.TopologySupervisor.Stopped;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.settings.Settings;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the topology as a service. It starts the HTTP server for health, metrics and digests first, then waits for its
 * dependencies, then starts the topology.
 *
 * <p>While the broker, the topics or the schema registry are missing, the service is not ready and retries. The service
 * ends if the topics are unsuitable or the topology fails; {@link #ended} has the cause.
 */
public final class RegistryStreams implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RegistryStreams.class);

    private final StreamsSettings settings;
    private final TaskStates taskStates = new TaskStates();
    private final SkippedRecords skippedRecords = new SkippedRecords();
    private final Metrics metrics = new Metrics();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final TopologySupervisor topology =
            new TopologySupervisor(this::prepare, Duration.ofSeconds(1), ended::completeExceptionally);
    private final ResourceStack resources = new ResourceStack();
    private final ConfluentSchemaRegistry schemaRegistry;
    private final SchemaLookup schemas;
    private final CollectionsRegistry collections;
    private final TransactionMonitor transactions;
    private final Listener listener;

    private RegistryStreams(StreamsSettings settings) {
        this.settings = settings;
        try {
            resources.add(metrics, Metrics::close);
            schemaRegistry = resources.add(
                    ConfluentSchemaRegistry.create(schemaRegistryConfigs()), ConfluentSchemaRegistry::close);
            schemas = resources.add(new SchemaLookup(schemaRegistry, InstantSource.system()), SchemaLookup::close);
            collections = new CollectionsRegistry(schemas, skippedRecords);
            transactions = resources.add(
                    TransactionMonitor.of(
                            settings.kafka().byName(),
                            settings.bootstrapServer(),
                            this::isInputTopic,
                            // A hanging transaction in the topic of one namespace must not make the service unready for
                            // all namespaces.
                            topic -> !Topics.isEvents(topic) || topic.equals(Topics.EVENTS),
                            metrics.registry()),
                    TransactionMonitor::close);
            bindMeters();
            listener = resources.add(
                    Listener.start(
                            ListenerOptions.at(settings.streamsHttpHost(), settings.streamsHttpPort())
                                    .onOneThread()
                                    .with(settings.http()),
                            routes(),
                            metrics),
                    Listener::close);
            resources.add(topology, TopologySupervisor::awaitStop);
            // Before the stop of the topology, which may wait for a schema.
            resources.runBeforeClosing(schemas::close);
            transactions.start();
            topology.start();
        } catch (RuntimeException | Error e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    /**
     * Starts the service. When this method returns, the HTTP server is up; the service becomes ready later.
     *
     * @throws dev.puri.http.CannotListenException if the HTTP port is in use
     */
    public static RegistryStreams start(StreamsSettings settings) {
        LOG.info("Starting with {}", Settings.effective(settings));
        return new RegistryStreams(settings);
    }

    /** The port of the HTTP server for health, metrics and digests. */
    public int port() {
        return listener.port();
    }

    /** Whether the service processes events at present. */
    public boolean isReady() {
        return topology.state() instanceof Started started
                && started.instance().state() == KafkaStreams.State.RUNNING
                && schemas.unreachableSince() == null
                && transactions.unreadyReason() == null;
    }

    /** Whether the topology reads a topic, as a source or to restore a store. */
    private boolean isInputTopic(String topic) {
        return Topics.isEvents(topic)
                || topic.equals(Topics.GRANTS)
                || topic.equals(Topics.COLLECTIONS)
                || topic.startsWith(settings.streamsApplicationId() + '-');
    }

    /** Returns the event counts of the tasks on this instance. */
    public EventCounts counts() {
        return taskStates.counts();
    }

    /** Returns a future that completes when the service is closed, and fails with the cause when the service fails. */
    public CompletableFuture<Void> ended() {
        return ended.copy();
    }

    /**
     * Commits and stops the service. The instance stays a member of the consumer group until its session times out, so
     * a restart gets the same partitions soon.
     */
    @Override
    public void close() {
        if (!topology.requestStop()) {
            return;
        }
        try {
            resources.close();
        } finally {
            ended.complete(null);
        }
    }

    /**
     * Checks the dependencies. Returns how to create the topology.
     *
     * @throws KafkaException if a dependency is missing
     */
    private Supplier<Instance> prepare() {
        int partitions = checkTopics();
        OutputEncoder encoder = registerSchemas();
        return () -> create(partitions, encoder);
    }

    private Instance create(int partitions, OutputEncoder encoder) {
        bindDigestMeters(partitions);
        Properties properties = StreamsProperties.of(settings);
        PacedClients clients = new PacedClients(taskStates);
        KafkaStreams streams = new KafkaStreams(
                RegistryTopology.build(
                        new RegistryTopology.Components(schemas, collections, encoder, taskStates, skippedRecords),
                        partitions,
                        new StreamsConfig(properties)),
                properties,
                clients);
        streams.setUncaughtExceptionHandler(this::onUncaughtException);
        streams.setGlobalStateRestoreListener(
                new RestoreCheck(partition -> requireComplete(clients.admin(), partition)));
        return new Instance(streams::start, streams::state, streams::close);
    }

    private StreamThreadExceptionResponse onUncaughtException(Throwable cause) {
        LOG.error("The topology failed", cause);
        TopologyFailedException failure = new TopologyFailedException(cause);
        LOG.error("The service ends: {}", failure.getMessage());
        topology.fail(failure);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    private int checkTopics() {
        Admin admin = AdminClients.create(settings.kafka().byName(), settings.bootstrapServer());
        try {
            List<String> missing = new ArrayList<>(RegistryTopics.checkExistence(admin));
            if (missing.isEmpty()) {
                missing.addAll(InternalTopics.checkChangelogsOfIdentities(admin, settings.streamsApplicationId()));
            }
            List<String> truncated = InternalTopics.checkTruncationOfState(admin, settings.streamsApplicationId());
            if (!missing.isEmpty()) {
                missing.addAll(truncated);
                throw new KafkaException(String.join("; ", missing));
            }
            List<String> mistakes =
                    RegistryTopics.check(admin, settings.streamsApplicationId(), settings.streamsReplicationFactor());
            if (!mistakes.isEmpty()) {
                // A wrong cleanup policy may be the reason why records were deleted, so it is named first.
                throw new WrongTopicsException(
                        Stream.concat(mistakes.stream(), truncated.stream()).toList());
            }
            if (!truncated.isEmpty()) {
                throw new KafkaException(String.join("; ", truncated));
            }
            return RegistryTopics.partitions(admin);
        } finally {
            admin.close(Duration.ofSeconds(1));
        }
    }

    /** Checks a topic before a store is restored from it. Waits while no broker answers. */
    private void requireComplete(Admin admin, TopicPartition partition) {
        List<String> mistakes = topology.awaitRestore(() -> TruncationCheck.ofPartitions(admin, List.of(partition)));
        if (mistakes != null && !mistakes.isEmpty()) {
            throw new WrongTopicsException(mistakes);
        }
    }

    private OutputEncoder registerSchemas() {
        topology.waitFor("the schema registry");
        // A separate client, because a client caches the schema of each id, and a cached schema may be wrong.
        try (ConfluentSchemaRegistry client = ConfluentSchemaRegistry.create(schemaRegistryConfigs())) {
            // Checked before the registration, because an empty schema registry would give the schemas new ids.
            List<String> mistakes = StoredSchemas.check(clientConfigs(), client, topology::isStopRequested);
            if (!mistakes.isEmpty()) {
                throw new KafkaException(String.join("; ", mistakes));
            }
        }
        RegistrySchemas.register(schemaRegistry, Set.of());
        return new OutputEncoder(schemaRegistry);
    }

    private List<Route> routes() {
        Health health = new Health();
        health.add(Health.Kind.STARTED, "topology", () -> {
            State state = topology.state();
            Instance instance = state.instance();
            boolean isStarted = instance != null && instance.state() != KafkaStreams.State.CREATED;
            return new Health.State(isStarted, isStarted ? Map.of() : reasonNotRunning(state));
        });
        health.add(Health.Kind.LIVE, "topology", () -> {
            State state = topology.state();
            return new Health.State(!(state instanceof Failed), Map.of("state", nameOf(state)));
        });
        health.add(Health.Kind.READY, "topology", () -> new Health.State(isReady(), details()));
        health.add(Health.Kind.READY, "transactions", transactions::ready);
        List<Route> routes = new ArrayList<>(health.routes());
        routes.add(metrics.route());
        routes.add(Route.get("/v1/digest", Scope.ADMIN, exchange -> exchange.json(200, new DigestBody(taskStates))));
        return routes;
    }

    private Map<String, Object> details() {
        State state = topology.state();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("state", nameOf(state));
        Instant unreachableSince = schemas.unreachableSince();
        if (unreachableSince != null) {
            details.put("schemaRegistryOutOfReachSince", unreachableSince.toString());
        }
        details.putAll(reasonNotRunning(state));
        EventCounts counts = counts();
        details.put("read", counts.read());
        details.put("parked", counts.parked());
        return details;
    }

    private static String nameOf(State state) {
        Instance instance = state.instance();
        return instance == null ? "STARTING" : instance.state().name();
    }

    /** Returns why the topology does not process events, for health; empty if it does, or has been stopped. */
    private Map<String, Object> reasonNotRunning(State state) {
        return switch (state) {
            case Starting starting -> Map.of("waitingFor", starting.waitingFor());
            case Started started -> {
                String hangingTransaction = transactions.unreadyReason();
                if (hangingTransaction != null) {
                    yield Map.of("waitingFor", hangingTransaction);
                }
                boolean isRestoring = started.instance().state() == KafkaStreams.State.REBALANCING;
                yield isRestoring ? Map.of("waitingFor", started.waitingFor()) : Map.of();
            }
            case Failed failed -> Map.of("reason", String.valueOf(failed.cause().getMessage()));
            case Stopped ignored -> Map.of();
        };
    }

    private void bindMeters() {
        MeterRegistry meters = metrics.registry();
        String settled = "puri.registry.events.settled";
        String decided = "Events decided";
        bindGauge(meters, "puri.registry.events.read", "Events read", EventCounts::read);
        bindGauge(meters, settled, decided, EventCounts::applied, "outcome", "applied");
        bindGauge(meters, settled, decided, EventCounts::unchanged, "outcome", "unchanged");
        bindGauge(meters, settled, decided, EventCounts::refused, "outcome", "refused");
        bindGauge(meters, "puri.registry.grants.stray", "Grants with no waiting event, read", EventCounts::strayGrants);
        Gauge.builder(
                        "puri.registry.events.parked",
                        taskStates,
                        states -> states.counts().parked())
                .description("Events waiting for a grant, a schema or a declaration")
                .register(meters);
        bindSkippedCounter(meters, Topics.COLLECTIONS);
        bindSkippedCounter(meters, Topics.GRANTS);
        RegistryTopology.REPARTITION_TOPICS.forEach(
                name -> bindSkippedCounter(meters, settings.streamsApplicationId() + '-' + name));
        Gauge.builder("puri.registry.schemas.reachable", schemas, lookup -> lookup.unreachableSince() == null ? 1 : 0)
                .description("1 while the schema registry is reachable")
                .register(meters);
    }

    private void bindDigestMeters(int partitions) {
        for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS)) {
            new DigestMeters(topic, partition -> taskStates.published(topic, partition), metrics.registry())
                    .register(partitions);
        }
    }

    // A gauge, because the count falls when a task moves to another instance, or when a crash discards uncommitted
    // work.
    private void bindGauge(
            MeterRegistry meters,
            String name,
            String description,
            ToDoubleFunction<EventCounts> count,
            String... tags) {
        Gauge.builder(name, taskStates, states -> count.applyAsDouble(states.counts()))
                .description(description + " by the tasks of this instance since the registry was created")
                .tags(tags)
                .register(meters);
    }

    private void bindSkippedCounter(MeterRegistry meters, String topic) {
        FunctionCounter.builder("puri.registry.records.skipped", skippedRecords, skipped -> skipped.count(topic))
                .description("Records that cannot be decoded and were skipped")
                .tag("topic", topic)
                .register(meters);
    }

    private Map<String, Object> clientConfigs() {
        Map<String, Object> configs = new LinkedHashMap<>(settings.kafka().byName());
        configs.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServer());
        return configs;
    }

    private Map<String, Object> schemaRegistryConfigs() {
        Map<String, Object> configs = new LinkedHashMap<>(settings.kafka().byName());
        configs.put("schema.registry.url", settings.schemaRegistry());
        // The look-up of schemas and the start retry after a second themselves; a stop ends such a wait.
        configs.put("max.retries", 0);
        return configs;
    }
}
