package dev.puri.resolver;

import dev.puri.http.CannotListenException;
import dev.puri.http.Drain;
import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.StalenessHeader;
import dev.puri.http.StateDirectory;
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
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.resolver.feed.TableRows;
import dev.puri.resolver.feed.TableStatus;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Subscribers;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.settings.Settings;
import io.micrometer.core.instrument.Gauge;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.kafka.common.config.ConfigException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A resolver: the identity table and its HTTP API. Any number of resolvers may run, also in one process; each has the
 * whole table.
 */
public final class Resolver implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Resolver.class);

    /** The topics that the resolver reads. */
    private static final Set<String> TOPICS = Set.of(Topics.IDENTITIES, Topics.COLLECTIONS, Topics.REJECTIONS);

    private final ResourceStack resources = new ResourceStack();
    private final Metrics metrics = resources.add(new Metrics(), Metrics::close);
    private final TableKeeper<ChangeRing> keeper;

    /** The internal listener, then the public one if there is one. */
    private final List<Listener> listeners = new ArrayList<>();

    /** Zero until the start succeeds, because no load balancer knows of the server before that. */
    private Duration drainDelay = Duration.ZERO;

    private Resolver(ResolverSettings settings) {
        InstantSource clock = InstantSource.system();
        Map<String, String> kafka = settings.kafka().byName();
        PlainConsumers consumers = new PlainConsumers(kafka, settings.bootstrapServer());
        ChangesSettings changes = settings.changes();
        try {
            SchemaRegistry registry = resources.add(registry(settings), SchemaRegistry::close);
            // Kafka Streams needs a state directory, which two clients must not share.
            StateDirectory stateDirectory =
                    resources.add(StateDirectory.of(settings.stateDir(), "resolver"), StateDirectory::close);
            DeclaredCollections collections = resources.add(
                    DeclaredCollections.start(consumers, registry, settings.maxLagAge(), clock, metrics.registry()),
                    DeclaredCollections::close);
            RefusalLog refusals = resources.add(
                    RefusalLog.start(
                            consumers,
                            registry,
                            settings.refusals().rejectionsHistory(),
                            settings.refusals().rejectionsMaxAge(),
                            settings.maxWaiters(),
                            clock,
                            metrics.registry()),
                    RefusalLog::close);
            Subscribers subscribers = resources.add(
                    Subscribers.start(options(changes), consumers, registry, clock, metrics.registry()),
                    Subscribers::close);
            OutcomeCache outcomes = new OutcomeCache(metrics.registry(), refusals::forgetErased);
            Waiters waiters =
                    resources.add(Waiters.forBatches(settings.maxWaiters(), settings.maxRefs()), Waiters::close);
            Gauge.builder("puri.waiters", waiters, Waiters::count)
                    .description("Requests that wait for events")
                    .register(metrics.registry());
            TransactionMonitor transactions = resources.add(
                    TransactionMonitor.of(
                            kafka,
                            settings.bootstrapServer(),
                            TOPICS::contains,
                            // A resolver is ready without this topic: only the details of refusals are then missing.
                            topic -> !topic.equals(Topics.REJECTIONS),
                            metrics.registry()),
                    TransactionMonitor::close);
            keeper = resources.add(
                    new TableKeeper<>(
                            () -> new TopicAdmin(kafka, settings.bootstrapServer(), Topics.IDENTITIES),
                            StreamsTableFeeder.factory(
                                    kafka,
                                    settings.bootstrapServer(),
                                    stateDirectory.path().toString(),
                                    registry,
                                    outcomes,
                                    waiters,
                                    metrics.registry()),
                            new Snapshots(settings.stateDir().orElse(null), settings.snapshotInterval(), clock),
                            waiters,
                            subscribers,
                            settings.maxLag(),
                            settings.maxLagAge(),
                            transactions::unreadyReason,
                            System::gc,
                            settings.tableCheckRate(),
                            clock,
                            metrics.registry()),
                    TableKeeper::close);
            TableStatus status = keeper.status();
            LookUps lookUps = new LookUps(
                    keeper::table,
                    status::waitReason,
                    collections::declarations,
                    new ReadYourWrites(
                            new TableRows(keeper::table),
                            outcomes,
                            refusals,
                            waiters,
                            status::partitions,
                            metrics.registry()),
                    new LookUps.Limits(settings.maxRefs(), new WaitParameters(settings.maxWait())),
                    metrics.registry());
            TopicHandlers topicHandlers = new TopicHandlers(
                    subscribers, refusals, collections, keeper::table, status::lag, status::lagAge, options(changes));
            Exports exports = new Exports(keeper::liveTable, changes.maxExports(), metrics.registry());
            Search search = resources.add(new Search(settings.searchUrl().orElse(null)), Search::close);
            Health health = new Health();
            TableHealth table = new TableHealth(keeper, subscribers::failureReason);
            health.add(Health.Kind.STARTED, "table", table::started);
            health.add(Health.Kind.READY, "table", table::ready);
            health.add(Health.Kind.READY, "transactions", transactions::ready);
            Route.DynamicHeader stalenessHeader = StalenessHeader.of(Routes.LAG, status::staleness);
            // Runs before the listeners close, because they would wait for these requests.
            Runnable endLongRequests = () -> {
                subscribers.drain();
                waiters.close();
            };
            resources.runBeforeClosing(() -> Drain.run(health, drainDelay, endLongRequests, listeners));
            listeners.add(Listener.start(
                    ListenerOptions.at(settings.httpHost(), settings.httpPort())
                            .withMaxBodyBytes(settings.maxBodyBytes())
                            .with(settings.http()),
                    Routes.of(
                            lookUps,
                            topicHandlers,
                            exports,
                            search,
                            TableAdmin.of(keeper),
                            health,
                            metrics,
                            stalenessHeader),
                    metrics));
            if (settings.publicListener().publicHttpPort().isPresent()) {
                PublicLookUps publicLookUps =
                        new PublicLookUps(keeper::table, collections::isPublic, settings.maxRefs(), metrics.registry());
                listeners.add(Listener.start(
                        settings.publicListener()
                                .options(PublicLookUps.LISTENER, settings.http())
                                .withMaxBodyBytes(settings.maxBodyBytes()),
                        PublicRoutes.of(publicLookUps, health, stalenessHeader),
                        metrics));
            }
            keeper.start();
            transactions.start();
            drainDelay = settings.drainDelay();
            log.info("Resolver listens on {}:{}", settings.httpHost(), port());
            publicPort().ifPresent(port -> log.info("The public listener is on port {}", port));
        } catch (RuntimeException | Error e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    /**
     * Starts a resolver. Returns when it listens; the table is restored afterwards. Brokers, topic and schema registry
     * may be absent: the resolver waits for them, and {@code /health/ready} shows the wait.
     *
     * @throws CannotListenException if the port cannot be bound
     * @throws ConfigException if the properties of the schema registry's client are invalid
     */
    public static Resolver start(ResolverSettings settings) {
        log.info("Resolver starts with settings {}", Settings.effective(settings));
        return new Resolver(settings);
    }

    private static SchemaRegistry registry(ResolverSettings settings) {
        Map<String, Object> config = new HashMap<>(settings.kafka().byName());
        config.put("schema.registry.url", settings.schemaRegistry());
        // The feed of the table retries itself: a stop ends such a wait, and the health check shows it.
        config.put("max.retries", 0);
        return ConfluentSchemaRegistry.create(config);
    }

    private static ChangesOptions options(ChangesSettings settings) {
        return ChangesOptions.of(
                settings.changesHistory(),
                settings.changesMaxAge(),
                settings.maxChangeStreams(),
                settings.changesBufferBytes(),
                settings.changesHeartbeat());
    }

    /** The port of the internal listener; the bound port if the setting is 0. */
    public int port() {
        return listeners.getFirst().port();
    }

    /** The port of the public listener; empty if there is none. */
    public OptionalInt publicPort() {
        return listeners.size() < 2
                ? OptionalInt.empty()
                : OptionalInt.of(listeners.get(1).port());
    }

    /** Visible for tests, which damage its table. */
    TableKeeper<ChangeRing> keeper() {
        return keeper;
    }

    /** Whether the table is complete, is fed, and has a small lag; a condition of {@code /health/ready}. */
    public boolean isReady() {
        return keeper.status().isReady();
    }

    /**
     * Stops the resolver. It is not ready from now on, still answers for the drain delay, completes the open requests,
     * and then closes its resources. The table takes longest: up to half a minute, mostly for its last snapshot.
     */
    @Override
    public void close() {
        resources.close();
    }
}
