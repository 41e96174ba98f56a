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
 * The table of this process, and all that feeds it.
 *
 * <pre>
 * puri.identities.v1 ─▶ TableKeeper ─▶ Table ◀─ look-ups
 *                            └─▶ OutcomeCache ─┐
 * puri.rejections.v1 ─▶ RefusalLog ────────────┴─▶ ReadYourWrites ◀─ tokens
 * </pre>
 */
final class LocalTable implements AutoCloseable {
    private static final Set<String> TOPICS = Set.of(Topics.IDENTITIES, Topics.REJECTIONS);

    /** As long as the topic has them. */
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
                            // Of a refusal the reason alone is enough.
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
                            // The collector is the application's: it pauses all of it. The memory is freed when it
                            // runs.
                            () -> {},
                            clock,
                            meters),
                    TableKeeper::close);
            // Closed first: nobody is to wait for events while the rest is closed.
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
        // The table waits itself, where it can be stopped and be seen to wait.
        config.put("max.retries", 0);
        return ConfluentSchemaRegistry.create(config);
    }

    /** The table, once complete; null before. */
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

    /** Since when it is not known that the table has all; null before it was complete. */
    @Nullable
    Duration age() {
        return keeper.age();
    }

    /**
     * What becomes of the event of a reference that is not malformed and has a token.
     *
     * @return completes on a thread that writes the table, so what depends on it must hop away; cancelling it ends the wait
     * @throws Waiters.TooManyException when as many wait as may
     */
    CompletableFuture<EventStatus> sight(Ref ref, Duration wait) throws Waiters.TooManyException {
        Position token = Objects.requireNonNull(ref.at());
        Puri puri = ref.puri();
        return puri != null
                ? writes.await(this, puri, token, wait)
                : writes.await(this, Objects.requireNonNull(ref.handle()), token, wait);
    }

    /** Ends what waits, writes the last snapshot and frees all threads; what could not be closed does not keep the rest open. */
    @Override
    public void close() {
        resources.close();
    }
}
