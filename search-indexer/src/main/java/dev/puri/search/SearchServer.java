package dev.puri.search;

import dev.puri.http.CannotListenException;
import dev.puri.http.Drain;
import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.StalenessHeader;
import dev.puri.projection.DeclaredCollections;
import dev.puri.projection.PlainConsumers;
import dev.puri.projection.RefusalLog;
import dev.puri.projection.ResourceStack;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.transactions.TransactionMonitor;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.WaitParameters;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexSize;
import dev.puri.settings.Settings;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.ToDoubleFunction;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A search indexer: an index of all identities, and its HTTP API. Any number of indexers may run. With Lucene, each
 * indexer stores the whole index.
 */
public final class SearchServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SearchServer.class);

    /** Enough records for an efficient bulk request, and few enough to be applied within a refresh interval. */
    private static final String MAX_POLL_RECORDS = "2000";

    private static final Set<String> FOLLOWED_TOPICS =
            Set.of(Topics.IDENTITIES, Topics.DOCUMENTS, Topics.COLLECTIONS, Topics.REJECTIONS);

    private final ResourceStack resources = new ResourceStack();
    private final Metrics metrics = resources.add(new Metrics(), Metrics::close);
    private final Indexer indexer;

    /** Whether public searches are answered, because the declarations are known; true without a public listener. */
    private final BooleanSupplier knowsPublicCollections;

    /** The internal listener, then the public one if there is one. */
    private final List<Listener> listeners = new ArrayList<>();

    /** Zero until the start succeeds, because no load balancer knows the server before. */
    private Duration drainDelay = Duration.ZERO;

    private SearchServer(SearchSettings settings, Indexer.@Nullable EngineOpener testEngine) {
        InstantSource clock = InstantSource.system();
        MeterRegistry meters = metrics.registry();
        Map<String, String> kafka = new HashMap<>(Map.of(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, MAX_POLL_RECORDS));
        kafka.putAll(settings.kafka().byName());
        PlainConsumers consumers = new PlainConsumers(kafka, settings.bootstrapServer());
        try {
            SchemaRegistry registry = resources.add(registry(settings), SchemaRegistry::close);
            Indexer.EngineOpener engine = testEngine == null
                    ? resources.add(EngineFromSettings.of(settings), EngineFromSettings::close)
                    : testEngine;
            DeclaredCollections collections = resources.add(
                    DeclaredCollections.start(consumers, registry, settings.maxLagAge(), clock, meters),
                    DeclaredCollections::close);
            RefusalLog refusals = resources.add(
                    RefusalLog.start(
                            consumers,
                            registry,
                            settings.rejectionsHistory(),
                            settings.rejectionsMaxAge(),
                            settings.maxWaiters(),
                            clock,
                            meters),
                    RefusalLog::close);
            OutcomeCache outcomes = new OutcomeCache(meters, refusals::forgetErased);
            Waiters waiters = resources.add(new Waiters(settings.maxWaiters()), Waiters::close);
            EndOffsetMonitor endOffsets = new EndOffsetMonitor(
                    topic -> new TopicAdmin(settings.kafka().byName(), settings.bootstrapServer(), topic), clock);
            TransactionMonitor transactions = resources.add(
                    TransactionMonitor.of(
                            settings.kafka().byName(),
                            settings.bootstrapServer(),
                            FOLLOWED_TOPICS::contains,
                            // Readiness does not depend on rejections, which only add details to refusals.
                            topic -> !topic.equals(Topics.REJECTIONS),
                            meters),
                    TransactionMonitor::close);
            indexer = resources.add(
                    new Indexer(
                            engine,
                            endOffsets,
                            new IndexFeeder.Context(
                                    consumers,
                                    new ChangeDecoder(
                                            registry,
                                            outcomes,
                                            DeclaredAttributes.of(collections)::attributesOf,
                                            meters),
                                    outcomes,
                                    waiters,
                                    settings.searchRefreshInterval(),
                                    settings.searchCommitInterval(),
                                    clock,
                                    new IndexMeters(meters)),
                            new Indexer.Limits(settings.maxLag(), settings.maxLagAge(), settings.searchForgetAfter()),
                            transactions::unreadyReason),
                    Indexer::close);
            IndexScrub scrub = resources.add(new IndexScrub(indexer, settings.searchCheckRate()), IndexScrub::close);
            boolean hasPublicListener =
                    settings.publicListener().publicHttpPort().isPresent();
            knowsPublicCollections = () -> !hasPublicListener || collections.isFresh();
            registerGauges(waiters, meters);
            IndexRows rows = new IndexRows(indexer);
            EventWaits eventWaits = new EventWaits(
                    indexer,
                    rows,
                    new ReadYourWrites(
                            rows, outcomes, refusals, waiters, () -> endOffsets.partitions(EntryKind.IDENTITY), meters),
                    waiters);
            SearchPool pool = resources.add(
                    new SearchPool(
                            settings.searchThreads(),
                            settings.searchQueue(),
                            settings.searchQueueTimeout(),
                            System::nanoTime,
                            meters),
                    SearchPool::close);
            PublicCollections publicCollections = new PublicCollections();
            SearchHandlers searchHandlers = new SearchHandlers(
                    indexer,
                    pool,
                    eventWaits,
                    new WaitParameters(settings.maxWait()),
                    () -> collections.isFresh() ? publicCollections.of(collections.declarations()) : null,
                    meters);
            MeterRegistry unusedMeters = new CompositeMeterRegistry();
            AdminRequests adminRequests = new AdminRequests(
                    indexer,
                    settings.engine().searchEngine(),
                    consumers,
                    // A verification does not compare the weights of attributes.
                    new ChangeDecoder(
                            registry,
                            new OutcomeCache(unusedMeters),
                            (puri, publishedBeforeNanos) -> SearchedAttributes.DEFAULT,
                            unusedMeters));
            Health health = new Health();
            health.add(Health.Kind.STARTED, "index", indexer.health()::started);
            health.add(Health.Kind.READY, "index", indexer.health()::ready);
            health.add(Health.Kind.READY, "transactions", transactions::ready);
            if (hasPublicListener) {
                health.add(Health.Kind.READY, "collections", () -> stateOf(collections));
            }
            Route.DynamicHeader stalenessHeader = StalenessHeader.of(SearchRoutes.LAG, indexer.health()::staleness);
            // Otherwise the listeners would wait for these requests to end.
            Runnable endLongRequests = () -> {
                waiters.close();
                adminRequests.close();
            };
            resources.runBeforeClosing(() -> Drain.run(health, drainDelay, endLongRequests, listeners));
            listeners.add(Listener.start(
                    ListenerOptions.at(settings.httpHost(), settings.httpPort()).with(settings.http()),
                    SearchRoutes.internalRoutes(searchHandlers, adminRequests, health, metrics, stalenessHeader),
                    metrics));
            if (hasPublicListener) {
                listeners.add(Listener.start(
                        settings.publicListener().options(SearchHandlers.PUBLIC, settings.http()),
                        SearchRoutes.publicRoutes(searchHandlers, health, stalenessHeader),
                        metrics));
            }
            indexer.start();
            scrub.start();
            transactions.start();
            drainDelay = settings.drainDelay();
            log.info("Search indexer listens on {}:{}", settings.httpHost(), port());
            publicPort().ifPresent(port -> log.info("The public listener listens on port {}", port));
        } catch (RuntimeException | Error e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    /**
     * Starts an indexer and returns when it listens; its index may still be incomplete. Brokers, topics, schema
     * registry and engine need not be available yet: the indexer waits for them, and {@code /health/ready} reports
     * this.
     *
     * @throws CannotListenException if a port cannot be bound
     * @throws ConfigException if the client of the schema registry rejects its properties
     */
    public static SearchServer start(SearchSettings settings) {
        return start(settings, null);
    }

    /**
     * Starts an indexer with the engine of a test.
     *
     * @param engine null for the engine of the settings
     */
    static SearchServer start(SearchSettings settings, Indexer.@Nullable EngineOpener engine) {
        log.info("Search indexer with {}", Settings.effective(settings));
        return new SearchServer(settings, engine);
    }

    private static SchemaRegistry registry(SearchSettings settings) {
        Map<String, Object> config = new HashMap<>(settings.kafka().byName());
        config.put("schema.registry.url", settings.schemaRegistry());
        // The feeder itself retries: a stop ends its wait, and health shows the failure.
        config.put("max.retries", 0);
        return ConfluentSchemaRegistry.create(config);
    }

    private void registerGauges(Waiters waiters, MeterRegistry meters) {
        Gauge.builder("puri.waiters", waiters, Waiters::count)
                .description("Requests that wait for events")
                .register(meters);
        Gauge.builder("puri.search.lag", indexer, index -> orNaN(index.health().lag()))
                .description("Lag of the index in offsets; NaN while unknown")
                .register(meters);
        Gauge.builder(
                        "puri.search.lag.seconds",
                        indexer,
                        index -> secondsOrNaN(index.health().staleness()))
                .description(
                        "Staleness of the serving index: seconds since it was certainly complete; NaN while no index serves")
                .register(meters);
        Gauge.builder("puri.search.ready", indexer, index -> isReady() ? 1 : 0)
                .description("1 while /health/ready is up")
                .register(meters);
        registerSizeGauge("entries", "identity", "Visible entries", IndexSize::identities, meters);
        registerSizeGauge("entries", "document", "Visible entries", IndexSize::documents, meters);
        registerSizeGauge("gone", null, "Deleted or replaced entries that still take space", IndexSize::gone, meters);
        registerSizeGauge("bytes", null, "Size of the index on disk, in bytes", IndexSize::bytes, meters);
        Gauge.builder(
                        "puri.search.reindex.running",
                        indexer,
                        index -> index.rebuildStatus().isRunning() ? 1 : 0)
                .description("1 while the index is being rebuilt")
                .register(meters);
        Gauge.builder(
                        "puri.search.reindex.reached",
                        indexer,
                        index -> index.rebuildStatus().reachedOffsets())
                .description("Offsets that the running or last rebuild has reached, summed over all partitions")
                .register(meters);
        Gauge.builder(
                        "puri.search.reindex.end",
                        indexer,
                        index -> index.rebuildStatus().endOffsets())
                .description("End offsets that the running or last rebuild must reach, summed over all partitions")
                .register(meters);
    }

    private void registerSizeGauge(
            String name,
            @Nullable String kind,
            String description,
            ToDoubleFunction<IndexSize> value,
            MeterRegistry meters) {
        Gauge.Builder<Indexer> gauge = Gauge.builder(
                        "puri.search." + name, indexer, index -> value.applyAsDouble(index.size()))
                .description(description);
        (kind == null ? gauge : gauge.tag("kind", kind)).register(meters);
    }

    private static double orNaN(@Nullable Long value) {
        return value == null ? Double.NaN : value;
    }

    private static double secondsOrNaN(@Nullable Duration duration) {
        return duration == null ? Double.NaN : duration.toMillis() / 1000.0;
    }

    /**
     * Returns the port of the internal listener. If the settings asked for a free port, this is the one that was
     * chosen.
     */
    public int port() {
        return listeners.getFirst().port();
    }

    /** Returns the port of the public listener; empty if there is none. */
    public OptionalInt publicPort() {
        return listeners.size() < 2
                ? OptionalInt.empty()
                : OptionalInt.of(listeners.get(1).port());
    }

    /**
     * Whether {@code /health/ready} is up: an index serves, is being updated, and its lag is small. With a public
     * listener also whether the declarations are known, because public searches are refused without them.
     */
    public boolean isReady() {
        return indexer.health().isReady() && knowsPublicCollections.getAsBoolean();
    }

    private static Health.State stateOf(DeclaredCollections collections) {
        if (collections.isFresh()) {
            return Health.State.up(Map.of());
        }
        String failure = collections.follower().failureReason();
        return Health.State.down(Map.of(
                "reason",
                failure != null
                        ? failure
                        : collections.follower().hasCaughtUp()
                                ? "the declarations of collections may be outdated"
                                : "the declarations of collections are being read"));
    }

    /**
     * Stops the server: it is no longer ready, still serves for the drain delay, and then completes the running
     * requests. The time limit of the indexer, half a minute, is the longest of all resources; most of it is for the
     * last commit.
     */
    @Override
    public void close() {
        resources.close();
    }
}
