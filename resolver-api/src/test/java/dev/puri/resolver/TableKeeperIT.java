package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.PlainConsumers;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.feed.TableFeeder;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The keeper of the table without the server around it: rebuilds, failed fills, released memory. */
final class TableKeeperIT extends ResolverOnBroker {
    @Test
    void refillsATableThatHadNoContactForLongerThanTombstonesAreKept() {
        write(row(TRACK, Rows.active("br-1")));
        AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-01T00:00:00Z"));
        try (Keeping keeping = new Keeping(now::get, feeders -> feeders)) {
            TableKeeper<ChangeRing> keeper = keeping.keeper;
            keeper.start();
            await().atMost(Duration.ofSeconds(60)).until(keeper.status()::isReady);
            Table first = keeper.table();

            now.updateAndGet(instant -> instant.plus(Duration.ofDays(5)));
            await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(60)).until(keeper.status()::isReady);
            assertThat(keeper.table()).isSameAs(first);

            now.updateAndGet(instant -> instant.plus(Duration.ofDays(7)));
            await().atMost(Duration.ofSeconds(60)).until(() -> keeper.table() != first);
            await().atMost(Duration.ofSeconds(60)).until(keeper.status()::isReady);
            assertThat(Objects.requireNonNull(keeper.table()).rows()).isEqualTo(1);
        }
    }

    @Test
    void failedFillsAreRetriedAndKeepNoMemory() {
        write(row(TRACK, Rows.active("br-1")));
        List<PackedTable> tables = new CopyOnWriteArrayList<>();
        try (Keeping keeping = new Keeping(InstantSource.system(), feeders -> (table, digests, partitions) -> {
            tables.add(table);
            table.put(Puri.parse("a:b:c"), Rows.active("br-9"));
            assertThat(table.stats().bytes()).isPositive();
            return switch (tables.size()) {
                case 1 -> throw new OutOfMemoryError("as if there were no memory outside the heap");
                case 2 -> throw new IllegalStateException("as if the feeder could not be created");
                default -> feeders.create(table, digests, partitions);
            };
        })) {
            keeping.keeper.start();
            await().atMost(Duration.ofSeconds(60)).until(keeping.keeper.status()::isReady);

            assertThat(keeping.keeper.table()).isSameAs(tables.get(2));
            assertThat(tables).extracting(table -> table.stats().bytes() > 0).containsExactly(false, false, true);
            assertThat(keeping.rebuilds()).isZero();
        }
    }

    @Test
    void aFailedWriterIsReplacedAndItsTableReleased() {
        write(row(TRACK, Rows.active("br-1")));
        try (Keeping keeping = new Keeping(InstantSource.system(), feeders -> feeders)) {
            TableKeeper<ChangeRing> keeper = keeping.keeper;
            keeper.start();
            await().atMost(Duration.ofSeconds(60)).until(keeper.status()::isReady);
            WeakReference<Table> failing = new WeakReference<>(keeper.table());
            Objects.requireNonNull(keeper.table()).onChange((puri, row) -> {
                throw new IllegalStateException("as if a record could not be written");
            });
            write(row(TRACK, Rows.active("br-2")));

            await().atMost(Duration.ofSeconds(60))
                    .until(() -> keeping.rebuilds() == 1 && keeper.status().isReady());
            assertThat(Objects.requireNonNull(
                                    Objects.requireNonNull(keeper.table()).byPuri(Puri.parse(TRACK)))
                            .row()
                            .shard())
                    .isEqualTo(Shard.parse("br-2"));
            await().atMost(Duration.ofSeconds(30)).until(() -> failing.get() == null);
        }
    }

    /** A keeper alone, with feeders that the test chooses. */
    private static final class Keeping implements AutoCloseable {
        private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
        private final ConfluentSchemaRegistry schemas =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", registry.url()));
        private final Subscribers changes;
        private final TableKeeper<ChangeRing> keeper;

        /**
         * @param feeders converts the factory that a resolver uses
         */
        Keeping(InstantSource clock, UnaryOperator<TableFeeder.Factory> feeders) {
            changes = Subscribers.start(
                    ChangesOptions.of(10, Duration.ofDays(1), 1, 10_000, Duration.ofSeconds(1)),
                    new PlainConsumers(Map.of(), broker.bootstrapServers()),
                    schemas,
                    clock,
                    meters);
            keeper = new TableKeeper<>(
                    () -> new TopicAdmin(Map.of(), broker.bootstrapServers(), Topics.IDENTITIES),
                    feeders.apply(StreamsTableFeeder.factory(
                            Map.of(),
                            broker.bootstrapServers(),
                            "target/state",
                            schemas,
                            new OutcomeCache(new SimpleMeterRegistry()),
                            new Waiters(1),
                            meters)),
                    new Snapshots(null, Duration.ofMinutes(10), clock),
                    new Waiters(1),
                    changes,
                    0,
                    Duration.ofSeconds(30),
                    () -> null,
                    System::gc,
                    100_000,
                    clock,
                    meters);
        }

        double rebuilds() {
            return meters.get("puri.table.rebuilds").counter().count();
        }

        @Override
        public void close() {
            keeper.close();
            changes.close();
            schemas.close();
        }
    }
}
