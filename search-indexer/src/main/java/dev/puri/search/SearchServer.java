package dev.puri.search;

import dev.puri.http.CannotListenException;
import dev.puri.http.Drain;
import dev.puri.http.Health;
import dev.puri.http.LagHeader;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexSize;
import dev.puri.settings.Settings;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.DeclaredCollections;
import dev.puri.tail.PlainConsumers;
import dev.puri.tail.RefusalLog;
import dev.puri.tail.ResourceStack;
import dev.puri.tail.transactions.TransactionMonitor;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.ReadYourWrites;
import dev.puri.tail.wait.WaitParameters;
import dev.puri.tail.wait.Waiters;
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
import java.util.function.ToDoubleFunction;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A search indexer: the index of all identities, and its HTTP API. Any number may run; with Lucene each holds
 * the whole index.
 */
public final class SearchServer implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SearchServer.class);

    /** Records of a poll: enough for an efficient bulk, and few enough to be applied within a refresh interval. */
    private static final String BATCH = "2000";

    private static final Set<String> TOPICS =
            Set.of(Topics.IDENTITIES, Topics.DOCUMENTS, Topics.COLLECTIONS, Topics.REJECTIONS);

    private final ResourceStack resources = new ResourceStack();
    private final Metrics metrics = resources.add(new Metrics(), Metrics::close);
    private final Indexer indexer;
    /** The internal listener, then the public one if there is one. */
    private final List<Listener> listeners = new ArrayList<>();

    /** Zero until the start succeeds: before, no load balancer knows of the server. */
    private Duration drainDelay = Duration.ZERO;

    private SearchServer(SearchSettings settings, Indexer.@Nullable EngineOpener given) {
        InstantSource clock = InstantSource.system();
        MeterRegistry meters = metrics.registry();
        Map<String, String> kafka = new HashMap<>(Map.of(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, BATCH));
        kafka.putAll(settings.kafka().byName());
        PlainConsumers consumers = new PlainConsumers(kafka, settings.bootstrapServer());
        try {
            SchemaRegistry registry = resources.add(registry(settings), SchemaRegistry::close);
            Indexer.EngineOpener engine = given == null ? resources.add(Engines.of(settings), Engines::close) : given;
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
                    topic -> new BrokerTopic(settings.kafka().byName(), settings.bootstrapServer(), topic), clock);
            TransactionMonitor transactions = resources.add(
                    TransactionMonitor.of(
                            settings.kafka().byName(),
                            settings.bootstrapServer(),
                            TOPICS::contains,
                            // A refusal is answered without its details too.
                            topic -> !topic.equals(Topics.REJECTIONS),
                            meters),
                    TransactionMonitor::close);
            indexer = resources.add(
                    new Indexer(
                            engine,
                            endOffsets,
                            new IndexFeeder.Tools(
                                    consumers,
                                    new ChangeReader(
                                            registry, outcomes, DeclaredAttributes.of(collections)::of, meters),
                                    outcomes,
                                    waiters,
                                    settings.searchRefreshInterval(),
                                    settings.searchCommitInterval(),
                                    clock,
                                    new IndexMeters(meters)),
                            new Indexer.Limits(settings.maxLag(), settings.maxLagAge(), settings.searchForgetAfter()),
                            transactions::reason),
                    Indexer::close);
            gauges(waiters, meters);
            IndexRows rows = new IndexRows(indexer);
            DocumentVisibility documents = resources.add(new DocumentVisibility(indexer), DocumentVisibility::close);
            EventWaits waits = new EventWaits(
                    indexer,
                    rows,
                    new ReadYourWrites(
                            rows, outcomes, refusals, waiters, () -> endOffsets.partitions(EntryKind.IDENTITY), meters),
                    waiters,
                    documents);
            SearchPool pool = resources.add(
                    new SearchPool(
                            settings.searchThreads(),
                            settings.searchQueue(),
                            settings.searchQueueTimeout(),
                            System::nanoTime,
                            meters),
                    SearchPool::close);
            PublicCollections publicCollections = new PublicCollections();
            Searches searches = new Searches(
                    indexer,
                    pool,
                    waits,
                    new WaitParameters(settings.maxWait()),
                    () -> collections.isFresh() ? publicCollections.of(collections.declarations()) : null,
                    meters);
            MeterRegistry unread = new CompositeMeterRegistry();
            AdminRequests adminRequests = new AdminRequests(
                    indexer,
                    settings.engine().searchEngine(),
                    consumers,
                    // Verification compares rows without the weights of their attributes.
                    new ChangeReader(
                            registry,
                            new OutcomeCache(unread),
                            (puri, publishedBy) -> SearchedAttributes.DEFAULT,
                            unread));
            Health health = new Health();
            health.add(Health.Kind.STARTED, "index", indexer.health()::started);
            health.add(Health.Kind.READY, "index", indexer.health()::ready);
            health.add(Health.Kind.READY, "transactions", transactions::ready);
            LagHeader lag = resources.add(LagHeader.start(SearchRoutes.LAG, indexer.health()::age), LagHeader::close);
            // The listeners would wait for waits and verifications.
            Runnable endWaits = () -> {
                waiters.close();
                adminRequests.close();
            };
            resources.runBeforeClosing(() -> Drain.run(health, drainDelay, endWaits, listeners));
            listeners.add(Listener.start(
                    ListenerOptions.at(settings.httpHost(), settings.httpPort()).with(settings.http()),
                    SearchRoutes.inside(searches, adminRequests, health, metrics, lag.header()),
                    metrics));
            if (settings.toPublic().publicHttpPort().isPresent()) {
                listeners.add(Listener.start(
                        settings.toPublic().options(Searches.PUBLIC, settings.http()),
                        SearchRoutes.outside(searches, health, lag.header()),
                        metrics));
            }
            indexer.start();
            documents.start();
            transactions.start();
            drainDelay = settings.drainDelay();
            log.info("Search indexer listens on {}:{}", settings.httpHost(), port());
            publicPort().ifPresent(port -> log.info("The public is answered on port {}", port));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Starts an indexer; returns once it listens, while its index is still being filled. Brokers, topics,
     * schema registry and engine need not be there yet: they are waited for, and {@code /health/ready} says so.
     *
     * @throws CannotListenException when the port cannot be bound
     * @throws ConfigException when the properties make no client of the schema registry
     */
    public static SearchServer start(SearchSettings settings) {
        return start(settings, null);
    }

    /** Starts an indexer with a test's engine. */
    static SearchServer start(SearchSettings settings, Indexer.@Nullable EngineOpener engine) {
        log.info("Search indexer with {}", Settings.effective(settings));
        return new SearchServer(settings, engine);
    }

    private static SchemaRegistry registry(SearchSettings settings) {
        Map<String, Object> config = new HashMap<>(settings.kafka().byName());
        config.put("schema.registry.url", settings.schemaRegistry());
        // The feeder retries itself: there a stop ends the wait, and health shows it.
        config.put("max.retries", 0);
        return ConfluentSchemaRegistry.create(config);
    }

    private void gauges(Waiters waiters, MeterRegistry meters) {
        Gauge.builder("puri.waiters", waiters, Waiters::count)
                .description("Requests that wait for events")
                .register(meters);
        Gauge.builder("puri.search.lag", indexer, index -> number(index.health().behind()))
                .description("Offsets between the index and its topics' ends; NaN when not known")
                .register(meters);
        Gauge.builder(
                        "puri.search.lag.seconds",
                        indexer,
                        index -> seconds(index.health().age()))
                .description("Since when it is not known that the index that answers has all; NaN before there is one")
                .register(meters);
        Gauge.builder("puri.search.ready", indexer, index -> index.health().isReady() ? 1 : 0)
                .description("1 while /health/ready is up")
                .register(meters);
        size("entries", "identity", "Entries that can be found", IndexSize::identities, meters);
        size("entries", "document", "Entries that can be found", IndexSize::documents, meters);
        size("gone", null, "Entries that were removed or replaced and still take space", IndexSize::gone, meters);
        size("bytes", null, "How much the index takes where it is kept", IndexSize::bytes, meters);
        Gauge.builder(
                        "puri.search.reindex.running",
                        indexer,
                        index -> index.rebuildStatus().isRunning() ? 1 : 0)
                .description("1 while another index is built")
                .register(meters);
        Gauge.builder(
                        "puri.search.reindex.reached",
                        indexer,
                        index -> index.rebuildStatus().reached())
                .description("Offsets of its topics that the index that is built, or was built last, has reached")
                .register(meters);
        Gauge.builder(
                        "puri.search.reindex.end",
                        indexer,
                        index -> index.rebuildStatus().of())
                .description("Offsets that it has to reach")
                .register(meters);
    }

    private void size(
            String what, @Nullable String kind, String doc, ToDoubleFunction<IndexSize> of, MeterRegistry meters) {
        Gauge.Builder<Indexer> gauge = Gauge.builder(
                        "puri.search." + what, indexer, index -> of.applyAsDouble(index.size()))
                .description(doc);
        (kind == null ? gauge : gauge.tag("kind", kind)).register(meters);
    }

    private static double number(@Nullable Long value) {
        return value == null ? Double.NaN : value;
    }

    private static double seconds(@Nullable Duration value) {
        return value == null ? Double.NaN : value.toMillis() / 1000.0;
    }

    /** The port that it listens on, also when any free one was asked for. */
    public int port() {
        return listeners.getFirst().port();
    }

    /** The port of the public listener; empty when there is none. */
    public OptionalInt publicPort() {
        return listeners.size() < 2
                ? OptionalInt.empty()
                : OptionalInt.of(listeners.get(1).port());
    }

    /** Whether {@code /health/ready} is up: the index is complete, fed and close to its topics' ends. */
    public boolean isReady() {
        return indexer.health().isReady();
    }

    /**
     * Stops being ready, answers requests for the drain delay, completes those under way, and stops. Each resource has
     * a bound of its own; the longest is the indexer's, of half a minute, most of it for the last commit.
     */
    @Override
    public void close() {
        resources.close();
    }
}
