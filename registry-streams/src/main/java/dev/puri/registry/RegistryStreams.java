package dev.puri.registry;

import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import dev.puri.projection.DigestMeters;
import dev.puri.projection.transactions.TransactionMonitor;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;
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
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);
    private static final String RESTORE = "the assignment of tasks and the restore of their state stores";

    private final StreamsSettings settings;
    private final TaskStates taskStates = new TaskStates();
    private final SkippedRecords skippedRecords = new SkippedRecords();
    private final Metrics metrics = new Metrics();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final CountDownLatch closeRequested = new CountDownLatch(1);
    private final ConfluentSchemaRegistry schemaRegistry;
    private final SchemaLookup schemas;
    private final CollectionsRegistry collections;
    private final TransactionMonitor transactions;
    private final Listener listener;
    private final Thread starter;

    private volatile String waitReason = "the broker and its topics";
    private volatile @Nullable KafkaStreams streams;

    /** Checks the topics from which the running topology restores stores. */
    private volatile @Nullable Admin restoreAdmin;

    private RegistryStreams(StreamsSettings settings) {
        this.settings = settings;
        this.schemaRegistry = ConfluentSchemaRegistry.create(schemaRegistryConfigs(settings));
        this.schemas = new SchemaLookup(schemaRegistry, InstantSource.system());
        this.collections = new CollectionsRegistry(schemas, skippedRecords);
        this.transactions = TransactionMonitor.of(
                settings.kafka().byName(),
                settings.bootstrapServer(),
                this::isInputTopic,
                // A hanging transaction in the topic of one namespace must not make the service unready for all
                // namespaces.
                topic -> !Topics.isEvents(topic) || topic.equals(Topics.EVENTS),
                metrics.registry());
        this.listener = Listener.start(
                ListenerOptions.at(settings.streamsHttpHost(), settings.streamsHttpPort())
                        .onOneThread()
                        .with(settings.http()),
                routes(),
                metrics);
        bindMeters();
        this.starter = Thread.ofPlatform().name("registry-streams-start").unstarted(this::startStreams);
    }

    /**
     * Starts the service. When this method returns, the HTTP server is up; the service becomes ready later.
     *
     * @throws dev.puri.http.CannotListenException if the HTTP port is in use
     */
    public static RegistryStreams start(StreamsSettings settings) {
        LOG.info("Starting with {}", Settings.effective(settings));
        RegistryStreams service = new RegistryStreams(settings);
        service.starter.start();
        service.transactions.start();
        return service;
    }

    /** The port of the HTTP server for health, metrics and digests. */
    public int port() {
        return listener.port();
    }

    /** Whether the service processes events at present. */
    public boolean isReady() {
        KafkaStreams running = streams;
        return running != null
                && running.state() == KafkaStreams.State.RUNNING
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
        if (isClosing()) {
            return;
        }
        closeRequested.countDown();
        transactions.close();
        schemas.close();
        join(starter);
        KafkaStreams running = streams;
        if (running != null && !running.close(CLOSE_TIMEOUT)) {
            LOG.warn("The topology did not stop within {} s", CLOSE_TIMEOUT.toSeconds());
        }
        Admin admin = restoreAdmin;
        if (admin != null) {
            admin.close(Duration.ZERO);
        }
        listener.close();
        schemaRegistry.close();
        metrics.close();
        ended.complete(null);
    }

    private boolean isClosing() {
        return closeRequested.getCount() == 0;
    }

    private void startStreams() {
        try {
            Integer partitions = await(this::checkTopics);
            OutputEncoder encoder = await(this::registerSchemas);
            if (partitions == null || encoder == null) {
                return;
            }
            bindDigestMeters(partitions);
            waitReason = RESTORE;
            Properties properties = StreamsProperties.of(settings);
            Admin admin = Admin.create(clientConfigs(settings));
            restoreAdmin = admin;
            KafkaStreams created = new KafkaStreams(
                    RegistryTopology.build(
                            new RegistryTopology.Components(schemas, collections, encoder, taskStates, skippedRecords),
                            partitions,
                            new StreamsConfig(properties)),
                    properties,
                    new PacedClients(taskStates));
            created.setUncaughtExceptionHandler(this::onUncaughtException);
            created.setGlobalStateRestoreListener(new RestoreCheck(partition -> requireComplete(admin, partition)));
            streams = created;
            if (!isClosing()) {
                created.start();
            }
        } catch (RuntimeException | Error e) {
            LOG.error("The topology cannot start", e);
            ended.completeExceptionally(e);
        }
    }

    private StreamThreadExceptionResponse onUncaughtException(Throwable cause) {
        LOG.error("The topology failed", cause);
        TopologyFailedException failure = new TopologyFailedException(cause);
        LOG.error("The service ends: {}", failure.getMessage());
        ended.completeExceptionally(failure);
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    /** A step of the start. It throws a {@link KafkaException} while a dependency is missing. */
    private interface StartStep<T> {
        T run();
    }

    /** Repeats a step until it succeeds. Returns null if the service is closed first. */
    private <T> @Nullable T await(StartStep<T> step) {
        while (!isClosing()) {
            try {
                return step.run();
            } catch (KafkaException e) {
                String reason = reasonOf(e);
                if (!reason.equals(waitReason) && !isClosing()) {
                    LOG.info("Retrying until this is resolved: {}", reason);
                }
                waitReason = reason;
            }
            pause();
        }
        return null;
    }

    /** Adds the root cause, because the exception of a Kafka client may say only that the client was not created. */
    private static String reasonOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root == failure ? String.valueOf(failure.getMessage()) : failure.getMessage() + ": " + root.getMessage();
    }

    private void pause() {
        try {
            boolean ignored = closeRequested.await(RETRY_DELAY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int checkTopics() {
        try (Admin admin = Admin.create(clientConfigs(settings))) {
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
        }
    }

    /** Checks a topic before a store is restored from it. Waits while no broker answers. */
    private void requireComplete(Admin admin, TopicPartition partition) {
        List<String> mistakes = await(() -> TruncationCheck.ofPartitions(admin, List.of(partition)));
        waitReason = RESTORE;
        if (mistakes != null && !mistakes.isEmpty()) {
            throw new WrongTopicsException(mistakes);
        }
    }

    private OutputEncoder registerSchemas() {
        waitReason = "the schema registry";
        // Checked before the registration, because an empty schema registry would give the schemas new ids.
        requireStoredSchemas();
        RegistrySchemas.register(schemaRegistry, Set.of());
        return new OutputEncoder(schemaRegistry);
    }

    /** Uses a separate client, because a client caches the schema of each id, and a cached schema may be wrong. */
    private void requireStoredSchemas() {
        try (ConfluentSchemaRegistry client = ConfluentSchemaRegistry.create(schemaRegistryConfigs(settings))) {
            List<String> mistakes = StoredSchemas.check(clientConfigs(settings), client, this::isClosing);
            if (!mistakes.isEmpty()) {
                throw new KafkaException(String.join("; ", mistakes));
            }
        }
    }

    private List<Route> routes() {
        Health health = new Health();
        health.add(Health.Kind.STARTED, "topology", () -> {
            KafkaStreams running = streams;
            boolean isStarted = running != null && running.state() != KafkaStreams.State.CREATED;
            return new Health.State(isStarted, isStarted ? Map.of() : Map.of("waitingFor", waitReason));
        });
        health.add(
                Health.Kind.LIVE,
                "topology",
                () -> new Health.State(!ended.isCompletedExceptionally(), Map.of("state", state())));
        health.add(Health.Kind.READY, "topology", () -> new Health.State(isReady(), details()));
        health.add(Health.Kind.READY, "transactions", transactions::ready);
        List<Route> routes = new ArrayList<>(health.routes());
        routes.add(metrics.route());
        routes.add(Route.get("/v1/digest", Scope.ADMIN, exchange -> exchange.json(200, new DigestBody(taskStates))));
        return routes;
    }

    private String state() {
        KafkaStreams running = streams;
        return running == null ? "STARTING" : running.state().name();
    }

    private Map<String, Object> details() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("state", state());
        Instant unreachableSince = schemas.unreachableSince();
        if (unreachableSince != null) {
            details.put("schemaRegistryOutOfReachSince", unreachableSince.toString());
        }
        String hangingTransaction = transactions.unreadyReason();
        KafkaStreams running = streams;
        if (running == null) {
            details.put("waitingFor", waitReason);
        } else if (hangingTransaction != null) {
            details.put("waitingFor", hangingTransaction);
        } else if (running.state() == KafkaStreams.State.REBALANCING) {
            details.put("waitingFor", waitReason);
        }
        EventCounts counts = counts();
        details.put("read", counts.read());
        details.put("parked", counts.parked());
        return details;
    }

    private void bindMeters() {
        MeterRegistry meters = metrics.registry();
        bindGauge(meters, "puri.registry.events.read", "Events read", EventCounts::read);
        bindOutcomeGauge(meters, "applied", EventCounts::applied);
        bindOutcomeGauge(meters, "unchanged", EventCounts::unchanged);
        bindOutcomeGauge(meters, "refused", EventCounts::refused);
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
    private void bindGauge(MeterRegistry meters, String name, String description, ToDoubleFunction<EventCounts> count) {
        Gauge.builder(name, taskStates, states -> count.applyAsDouble(states.counts()))
                .description(description + " by the tasks of this instance since the registry was created")
                .register(meters);
    }

    private void bindSkippedCounter(MeterRegistry meters, String topic) {
        FunctionCounter.builder("puri.registry.records.skipped", skippedRecords, skipped -> skipped.count(topic))
                .description("Records that cannot be decoded and were skipped")
                .tag("topic", topic)
                .register(meters);
    }

    private void bindOutcomeGauge(MeterRegistry meters, String outcome, ToDoubleFunction<EventCounts> count) {
        Gauge.builder("puri.registry.events.settled", taskStates, states -> count.applyAsDouble(states.counts()))
                .description("Events decided by the tasks of this instance since the registry was created")
                .tag("outcome", outcome)
                .register(meters);
    }

    private static Map<String, Object> clientConfigs(StreamsSettings settings) {
        Map<String, Object> configs = new LinkedHashMap<>(settings.kafka().byName());
        configs.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServer());
        return configs;
    }

    private static Map<String, Object> schemaRegistryConfigs(StreamsSettings settings) {
        Map<String, Object> configs = new LinkedHashMap<>(settings.kafka().byName());
        configs.put("schema.registry.url", settings.schemaRegistry());
        return configs;
    }

    private static void join(Thread thread) {
        try {
            thread.join(CLOSE_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
