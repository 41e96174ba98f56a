package dev.puri.client.embedded;

import dev.puri.client.resolve.Ref;
import dev.puri.resolver.feed.RowChanges;
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.resolver.feed.TableRows;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.tail.BrokerTopic;
import dev.puri.tail.PlainConsumers;
import dev.puri.tail.RefusalLog;
import dev.puri.tail.ResourceStack;
import dev.puri.tail.transactions.TransactionMonitor;
import dev.puri.tail.wait.EventStatus;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.ReadYourWrites;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The table of this process, and the threads that feed it.
 *
 * <pre>
 * puri.identities.v1 ─▶ TableKeeper ─▶ Table ◀─ look-ups
 *                            └─▶ OutcomeCache ─┐
 * puri.rejections.v1 ─▶ RefusalLog ────────────┴─▶ ReadYourWrites ◀─ tokens
 * </pre>
 */
final class LocalTable implements AutoCloseable {
    private static final Set<String> TOPICS = Set.of(Topics.IDENTITIES, Topics.REJECTIONS);

    /** Retention of the topic of refusals. */
    private static final Duration REFUSALS_MAX_AGE = Duration.ofDays(30);

    private final ResourceStack resources = new ResourceStack();

    private final TableKeeper<RowChanges> keeper;
    private final RefusalLog refusals;
    private final ReadYourWrites writes;

    LocalTable(EmbeddedResolverOptions options) {
        InstantSource clock = InstantSource.system();
        Map<String, String> kafka = options.kafka();
        MeterRegistry meters = options.meters();
        try {
            StateDirectory directory = resources.add(StateDirectory.take(options.stateDir()), StateDirectory::close);
            SchemaRegistry registry = resources.add(registry(options), SchemaRegistry::close);
            refusals = resources.add(
                    RefusalLog.start(
                            new PlainConsumers(kafka, options.bootstrapServers()),
                            registry,
                            options.refusals(),
                            REFUSALS_MAX_AGE,
                            options.maxPending(),
                            clock,
                            meters),
                    RefusalLog::close);
            OutcomeCache outcomes = new OutcomeCache(meters, refusals::forgetErased);
            Waiters waiters = Waiters.forBatches(options.maxPending(), options.maxPending());
            TransactionMonitor transactions = resources.add(
                    TransactionMonitor.of(
                            kafka,
                            options.bootstrapServers(),
                            TOPICS::contains,
                            // Without this topic a refusal still has its reason.
                            topic -> !topic.equals(Topics.REJECTIONS),
                            meters),
                    TransactionMonitor::close);
            keeper = resources.add(
                    new TableKeeper<>(
                            () -> new BrokerTopic(kafka, options.bootstrapServers(), Topics.IDENTITIES),
                            TableClient.factory(
                                    kafka,
                                    options.bootstrapServers(),
                                    directory.path().toString(),
                                    registry,
                                    outcomes,
                                    waiters,
                                    meters),
                            new Snapshots(directory.path(), options.snapshotInterval(), clock),
                            waiters,
                            (topicId, begins, completeAt, isThere) -> RowChanges.NONE,
                            options.maxLag(),
                            options.maxLagAge(),
                            transactions::reason,
                            // No forced collection, which would pause the whole application. The next collection frees
                            // the memory of a replaced table.
                            () -> {},
                            clock,
                            meters),
                    TableKeeper::close);
            // Added last and so closed first: no look-up must wait for events while the rest closes.
            resources.add(waiters, Waiters::close);
            writes = new ReadYourWrites(
                    new TableRows(keeper::table), outcomes, refusals, waiters, keeper::partitions, meters);
            keeper.start();
            transactions.start();
        } catch (RuntimeException | Error e) {
            try {
                close();
            } catch (RuntimeException | Error whileClosing) {
                e.addSuppressed(whileClosing);
            }
            throw e;
        }
    }

    private static SchemaRegistry registry(EmbeddedResolverOptions options) {
        Map<String, Object> config = KafkaOptions.registryConfig(options.schemaRegistry(), options.kafka());
        // The table's own thread retries, so that it can be stopped and its progress shows the wait.
        config.put("max.retries", 0);
        return ConfluentSchemaRegistry.create(config);
    }

    /** The table; null until it is complete. */
    @Nullable
    Table table() {
        return keeper.table();
    }

    TableProgress progress() {
        TableKeeper.FillProgress progress = keeper.fillProgress();
        return new TableProgress(
                keeper.table() != null,
                progress == null ? null : progress.reached(),
                progress == null ? null : progress.end(),
                keeper.unready(),
                refusals.trouble());
    }

    /** Time since the table was last known to have all of its topic; null before it was complete. */
    @Nullable
    Duration age() {
        return keeper.age();
    }

    /**
     * Waits for the event of a reference, which must have a token and not be malformed.
     *
     * @return the result. The thread that writes the table completes it, so callbacks must continue on another thread. Cancelling it
     *     ends the wait
     * @throws Waiters.TooManyException if too many references wait already
     */
    CompletableFuture<EventStatus> sight(Ref ref, Duration wait) throws Waiters.TooManyException {
        Position token = Objects.requireNonNull(ref.at());
        Puri puri = ref.puri();
        return puri != null
                ? writes.await(this, puri, token, wait)
                : writes.await(this, Objects.requireNonNull(ref.handle()), token, wait);
    }

    /** Ends waits, writes a last snapshot and frees all threads. A part that fails to close does not keep the others open. */
    @Override
    public void close() {
        resources.close();
    }
}
