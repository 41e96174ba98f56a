package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.projection.PlainConsumers;
import dev.puri.projection.RefusalLog;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.transactions.TransactionMonitor;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table and its classes of {@code projection}, on a class path without {@code http-service}. */
final class WithoutHttpTest {
    /** Nothing listens there. */
    private static final String NOWHERE = "127.0.0.1:1";

    @TempDir
    private Path folder;

    @Test
    void keepsATableWithoutAnHttpServer() {
        assertThatThrownBy(() -> Class.forName("dev.puri.http.Health")).isInstanceOf(ClassNotFoundException.class);
        assertThatThrownBy(() -> Class.forName("dev.puri.settings.Settings"))
                .isInstanceOf(ClassNotFoundException.class);
        assertThatThrownBy(() -> Class.forName("io.vertx.core.Vertx")).isInstanceOf(ClassNotFoundException.class);

        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
        InstantSource clock = InstantSource.system();
        try (RefusalLog refusals = RefusalLog.start(
                        new PlainConsumers(Map.of(), NOWHERE), registry, 10, Duration.ofDays(1), 10, clock, meters);
                Waiters waiters = new Waiters(10);
                TransactionMonitor transactions =
                        TransactionMonitor.of(Map.of(), NOWHERE, Topics.IDENTITIES::equals, topic -> true, meters)) {
            OutcomeCache outcomes = new OutcomeCache(meters, refusals::forgetErased);
            try (TableKeeper<RowChanges> keeper = new TableKeeper<>(
                    () -> new TopicAdmin(Map.of(), NOWHERE, Topics.IDENTITIES),
                    StreamsTableFeeder.factory(
                            Map.of(), NOWHERE, folder.toString(), registry, outcomes, waiters, meters),
                    new Snapshots(folder, Duration.ofMinutes(1), clock),
                    waiters,
                    (topicId, nextOffsets, completeAt, hasIdentity) -> RowChanges.NONE,
                    0,
                    Duration.ofSeconds(30),
                    transactions::unreadyReason,
                    () -> {},
                    100_000,
                    clock,
                    meters)) {
                new ReadYourWrites(
                        new TableRows(keeper::table), outcomes, refusals, waiters, keeper.status()::partitions, meters);
                transactions.start();
                keeper.start();

                assertThat(keeper.table()).isNull();
                assertThat(keeper.status().isReady()).isFalse();
                assertThat(new PackedTable().rows()).isZero();
            }
        }
    }
}
