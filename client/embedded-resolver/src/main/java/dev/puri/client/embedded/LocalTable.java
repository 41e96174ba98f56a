package dev.puri.client.embedded;

import dev.puri.client.resolve.Ref;
import dev.puri.projection.DeclaredCollections;
import dev.puri.projection.PlainConsumers;
import dev.puri.projection.RefusalLog;
import dev.puri.projection.ResourceStack;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.transactions.TransactionMonitor;
import dev.puri.projection.wait.EventStatus;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.feed.RowChanges;
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.resolver.feed.TableRows;
import dev.puri.resolver.feed.TableStatus;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The identity table of this process, and the components that keep it current and wait for events.
 *
 * <pre>
 * puri.identities.v1 ─▶ TableKeeper ─▶ Table ◀─ look-ups
 *                            └─▶ OutcomeCache ─┐
 * puri.rejections.v1 ─▶ RefusalLog ────────────┴─▶ ReadYourWrites ◀─ tokens
 * puri.collections.v1 ─▶ DeclaredCollections ◀─ is the collection of an unknown name being imported?
 * </pre>
 */
final class LocalTable implements AutoCloseable {
    private static final Set<String> TOPICS = Set.of(Topics.IDENTITIES, Topics.REJECTIONS, Topics.COLLECTIONS);

    /** The retention of {@code puri.rejections.v1}. */
    private static final Duration REFUSALS_MAX_AGE = Duration.ofDays(30);

    private final ResourceStack resources = new ResourceStack();

    private final TableKeeper<RowChanges> keeper;
    private final DeclaredCollections collections;
    private final RefusalLog refusals;
    private final ReadYourWrites readYourWrites;

    LocalTable(EmbeddedResolverOptions options) {
        InstantSource clock = InstantSource.system();
        Map<String, String> kafka = options.kafka();
        MeterRegistry meters = options.meters();
        try {
            LockedFolder folder = resources.add(LockedFolder.open(options.stateDir()), LockedFolder::close);
            SchemaRegistry registry = resources.add(registry(options), SchemaRegistry::close);
            PlainConsumers consumers = new PlainConsumers(kafka, options.bootstrapServers());
            collections = resources.add(
                    DeclaredCollections.start(consumers, registry, options.maxLagAge(), clock, meters),
                    DeclaredCollections::close);
            refusals = resources.add(
                    RefusalLog.start(
                            consumers,
                            registry,
                            options.maxRefusals(),
                            REFUSALS_MAX_AGE,
                            options.maxPending(),
                            clock,
                            meters),
                    RefusalLog::close);
            OutcomeCache outcomes = new OutcomeCache(meters, refusals::forgetErased);
            Waiters waiters = Waiters.forOneCaller(options.maxPending());
            TransactionMonitor transactions = resources.add(
                    TransactionMonitor.of(
                            kafka,
                            options.bootstrapServers(),
                            TOPICS::contains,
                            // A hanging transaction in another topic does not make the table unready: it hides only
                            // details of refusals and changes of declarations.
                            topic -> topic.equals(Topics.IDENTITIES),
                            meters),
                    TransactionMonitor::close);
            keeper = resources.add(
                    new TableKeeper<>(
                            () -> new TopicAdmin(kafka, options.bootstrapServers(), Topics.IDENTITIES),
                            StreamsTableFeeder.factory(
                                    kafka,
                                    options.bootstrapServers(),
                                    folder.path().toString(),
                                    registry,
                                    outcomes,
                                    waiters,
                                    meters),
                            new Snapshots(folder.path(), options.snapshotInterval(), clock),
                            waiters,
                            (topicId, nextOffsets, completeAt, hasIdentity) -> RowChanges.NONE,
                            options.maxLag(),
                            options.maxLagAge(),
                            transactions::unreadyReason,
                            // No garbage collection is forced after a table was replaced, because it would pause the
                            // whole application. The next regular collection frees the memory of the replaced table.
                            () -> {},
                            options.checkRate(),
                            clock,
                            meters),
                    TableKeeper::close);
            // Added last and therefore closed first, so that no look-up waits for events while the rest closes.
            resources.add(waiters, Waiters::close);
            readYourWrites = new ReadYourWrites(
                    new TableRows(keeper::table), outcomes, refusals, waiters, keeper.status()::partitions, meters);
            keeper.start();
            transactions.start();
        } catch (RuntimeException | Error e) {
            resources.closeAfter(e);
            throw e;
        }
    }

    private static SchemaRegistry registry(EmbeddedResolverOptions options) {
        Map<String, Object> config = KafkaOptionsCheck.registryConfig(options.schemaRegistry(), options.kafka());
        // The client does not retry, because the thread that fills the table does. That thread can be stopped between
        // two attempts, and reports the wait in its progress.
        config.put("max.retries", 0);
        return ConfluentSchemaRegistry.create(config);
    }

    /** Returns the table; null until it is complete. */
    @Nullable
    Table table() {
        return keeper.table();
    }

    /** Returns the declarations that were read; none before {@code puri.collections.v1} can be read. */
    Declarations declarations() {
        return collections.declarations();
    }

    TableProgress progress() {
        TableStatus.FillProgress progress = keeper.status().fillProgress();
        return new TableProgress(
                keeper.table() != null,
                progress == null ? null : progress.reached(),
                progress == null ? null : progress.end(),
                keeper.status().unreadyReason(),
                refusals.follower().failureReason(),
                collections.follower().failureReason());
    }

    /** Returns the time since the table was known to have all records; null before it was complete. */
    @Nullable
    Duration age() {
        return keeper.status().staleness();
    }

    /**
     * Waits for the event of a reference.
     *
     * @param ref a reference with a token that is not malformed
     * @return the status of the event. The thread that writes the table completes the future, so callbacks must run on
     *     another thread. Cancelling the future ends the wait
     * @throws Waiters.TooManyException if too many references wait already
     */
    CompletableFuture<EventStatus> awaitEvent(Ref ref, Duration wait) throws Waiters.TooManyException {
        Position token = Objects.requireNonNull(ref.token());
        Puri puri = ref.puri();
        // All waits of this process have the same caller, this table.
        return puri != null
                ? readYourWrites.await(this, puri, token, wait)
                : readYourWrites.await(this, Objects.requireNonNull(ref.handle()), token, wait);
    }

    /** Ends waits, writes a last snapshot and ends all threads. Closes all resources even if some fail to close. */
    @Override
    public void close() {
        resources.close();
    }
}
