package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.TopicAdmin;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.Rows;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.resolver.table.TableFaults;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import dev.puri.testkit.InMemoryTopics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The life cycle of the table, without brokers and without Kafka Streams. */
@Timeout(60)
final class TableKeeperTest {
    private static final int PARTITIONS = 2;
    private static final Puri PURI = Puri.parse("soundcloud:tracks:1");
    private static final TopicPartition PARTITION = new TopicPartition(Topics.IDENTITIES, 1);

    @TempDir
    private Path folder;

    private final InMemoryTopics topics = new InMemoryTopics();
    private final List<ControlledFeeder> feeders = new CopyOnWriteArrayList<>();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private volatile Duration clockAdvance = Duration.ZERO;
    private volatile boolean isCreationBroken;
    private volatile @Nullable String hangingTransaction;
    private final List<RowChanges> servingReceivers = new CopyOnWriteArrayList<>();
    private TableKeeper<RowChanges> keeper;

    /** A feeder whose table is full when the test says so. */
    private static final class ControlledFeeder implements TableFeeder {
        private final PackedTable table;
        private final DigestCheck digests;
        private final int partitions;
        private final CountDownLatch full = new CountDownLatch(1);
        private volatile @Nullable RuntimeException failure;
        private volatile boolean isRunning;
        private volatile boolean isClosed;
        private volatile @Nullable String schemaRegistryProblem;

        ControlledFeeder(PackedTable table, DigestCheck digests, int partitions) {
            this.table = table;
            this.digests = digests;
            this.partitions = partitions;
        }

        void fill() {
            isRunning = true;
            full.countDown();
        }

        void fail(String reason) {
            failure = new IllegalStateException(reason);
            isRunning = false;
            full.countDown();
        }

        @Override
        public PackedTable table() {
            return table;
        }

        @Override
        public @Nullable String schemaRegistryProblem() {
            return schemaRegistryProblem;
        }

        @Override
        public void start() {
            try {
                full.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            RuntimeException thrown = failure;
            if (thrown != null) {
                throw thrown;
            }
        }

        @Override
        public void reportChanges(Function<long[], ? extends RowChanges> createReceiver) {
            RowChanges unused = createReceiver.apply(new long[partitions]);
        }

        @Override
        public void abandon() {
            fail("abandoned");
        }

        @Override
        public boolean isRunning() {
            return isRunning;
        }

        @Override
        public String stopReason() {
            return String.valueOf(failure);
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    @BeforeEach
    void createKeeper() {
        InstantSource clock = () -> Instant.now().plus(clockAdvance);
        keeper = new TableKeeper<>(
                () -> new TopicAdmin(topics.admin(), Topics.IDENTITIES),
                (table, digests, partitions) -> {
                    if (isCreationBroken) {
                        throw new OutOfMemoryError("simulated");
                    }
                    ControlledFeeder feeder = new ControlledFeeder(table, digests, partitions);
                    feeders.add(feeder);
                    return feeder;
                },
                new Snapshots(folder, Duration.ofMinutes(1), clock),
                new Waiters(1),
                new TableKeeper.ChangeReceiverFactory<>() {
                    @Override
                    public RowChanges create(
                            Uuid topicId, long[] nextOffsets, Instant completeAt, BiPredicate<Puri, UUID> hasIdentity) {
                        return new NotedChanges();
                    }

                    @Override
                    public void serves(RowChanges receiver) {
                        servingReceivers.add(receiver);
                    }
                },
                0,
                Duration.ofSeconds(30),
                () -> hangingTransaction,
                () -> {},
                100_000,
                clock,
                meters,
                Duration.ofMillis(20),
                RetryPolicy.fixed(Duration.ofMillis(20)));
    }

    @AfterEach
    void stop() {
        keeper.close();
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    private ControlledFeeder awaitFeeder(int number) {
        awaitThat(() -> feeders.size() >= number);
        return feeders.get(number - 1);
    }

    private ControlledFeeder serveFirstTable() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        keeper.start();
        ControlledFeeder feeder = awaitFeeder(1);
        feeder.fill();
        awaitThat(() -> keeper.status().isReady());
        return feeder;
    }

    @Test
    void waitsForTheTopic() {
        keeper.start();

        awaitThat(() ->
                String.valueOf(keeper.status().unreadyReason()).startsWith("there is no topic " + Topics.IDENTITIES));
        assertThat(feeders).isEmpty();
        topics.create(Topics.IDENTITIES, PARTITIONS);
        awaitFeeder(1).fill();

        awaitThat(() -> keeper.status().isReady());
    }

    @Test
    void servesATableOnlyWhenItIsFull() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        keeper.start();
        ControlledFeeder feeder = awaitFeeder(1);

        awaitThat(() -> "the table is being filled".equals(keeper.status().unreadyReason()));
        assertThat(keeper.table()).isNull();
        feeder.fill();

        awaitThat(() -> keeper.table() == feeder.table);
        assertThat(meters.get("puri.table.rebuilds").counter().count()).isZero();
    }

    @Test
    void aTableThatCannotBeFilledIsFilledAgain() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        keeper.start();

        ControlledFeeder first = awaitFeeder(1);
        first.fail("the disk is full");

        awaitFeeder(2).fill();
        awaitThat(() -> keeper.status().isReady());
        assertThat(first.isClosed).isTrue();
    }

    @Test
    void theOldTableServesUntilItsReplacementIsFull() {
        ControlledFeeder first = serveFirstTable();

        first.fail("a record is corrupt");

        ControlledFeeder second = awaitFeeder(2);
        assertThat(keeper.table()).isSameAs(first.table);
        assertThat(keeper.status().isReady()).isFalse();
        assertThat(first.isClosed).isTrue();
        second.fill();
        awaitThat(() -> keeper.table() == second.table && keeper.status().isReady());
        assertThat(meters.get("puri.table.rebuilds").counter().count()).isEqualTo(1);
    }

    @Test
    void aTopicThatWasCreatedAgainFillsANewTable() {
        ControlledFeeder first = serveFirstTable();

        topics.create(Topics.IDENTITIES, PARTITIONS);

        awaitFeeder(2).fill();
        awaitThat(() -> keeper.table() != first.table && keeper.status().isReady());
    }

    @Test
    void aTopicThatHasLostItsRowsDoesNotReplaceTheServingTable() {
        ControlledFeeder first = serveFirstTable();
        put(first, 200);

        topics.create(Topics.IDENTITIES, PARTITIONS);
        ControlledFeeder second = awaitFeeder(2);
        second.fill();
        put(second, 197);
        awaitThat(() -> String.valueOf(keeper.status().unreadyReason())
                .contains("has 197 rows, and the serving table has 200"));
        assertThat(keeper.table()).isSameAs(first.table);
        assertThat(servingReceivers).hasSize(1);

        put(second, 198);
        awaitThat(() -> keeper.table() == second.table && keeper.status().isReady());
        assertThat(servingReceivers).hasSize(2);
        assertThat(servingReceivers.getLast())
                .isSameAs(Objects.requireNonNull(keeper.liveTable()).changeReceiver());
    }

    @Test
    void aFeederThatDiesBeforeItsTableHasEnoughRowsIsReplaced() {
        ControlledFeeder first = serveFirstTable();
        put(first, 200);
        topics.create(Topics.IDENTITIES, PARTITIONS);
        ControlledFeeder second = awaitFeeder(2);
        second.fill();
        awaitThat(() -> String.valueOf(keeper.status().unreadyReason()).contains("has 0 rows"));

        second.fail("a record is corrupt");

        ControlledFeeder third = awaitFeeder(3);
        assertThat(second.isClosed).isTrue();
        assertThat(keeper.table()).isSameAs(first.table);
        put(third, 200);
        third.fill();
        awaitThat(() -> keeper.table() == third.table && keeper.status().isReady());
    }

    @Test
    void aTopicThatIsCreatedAgainBeforeItHasEnoughRowsFillsAnotherTable() {
        ControlledFeeder first = serveFirstTable();
        put(first, 200);
        topics.create(Topics.IDENTITIES, PARTITIONS);
        awaitFeeder(2).fill();
        awaitThat(() -> String.valueOf(keeper.status().unreadyReason()).contains("has 0 rows"));

        topics.create(Topics.IDENTITIES, PARTITIONS);

        ControlledFeeder third = awaitFeeder(3);
        assertThat(keeper.table()).isSameAs(first.table);
        put(third, 200);
        third.fill();
        awaitThat(() -> keeper.table() == third.table && keeper.status().isReady());
    }

    @Test
    void newPartitionsFillANewTable() {
        ControlledFeeder first = serveFirstTable();

        topics.addPartitions(Topics.IDENTITIES, 1);

        ControlledFeeder second = awaitFeeder(2);
        assertThat(second.partitions).isEqualTo(PARTITIONS + 1);
        assertThat(keeper.table()).isSameAs(first.table);
        second.fill();
        awaitThat(() -> keeper.table() == second.table && keeper.status().isReady());
    }

    private static void put(ControlledFeeder feeder, int rows) {
        RowBatch batch = feeder.table.newBatch();
        for (int i = 0; i < rows; i++) {
            Puri puri = Puri.of("a", "b", Integer.toString(i));
            batch.put(puri, Rows.active("br-1"));
        }
        feeder.table.write(batch);
    }

    @Test
    void brokersThatDoNotRespondLeaveTheTableAndLaterReplaceIt() {
        ControlledFeeder first = serveFirstTable();

        topics.setAway(true);
        awaitThat(() -> "no broker answers".equals(keeper.status().details().get("detail")));
        assertThat(keeper.table()).isSameAs(first.table);
        clockAdvance = Duration.ofDays(7);
        topics.setAway(false);

        // The table may have missed tombstones that the brokers no longer have.
        awaitFeeder(2).fill();
        awaitThat(() -> keeper.table() != first.table && keeper.status().isReady());
    }

    @Test
    void aTableThatLagsIsNotReady() {
        serveFirstTable();

        topics.setEnd(PARTITION, 7);

        awaitThat(() -> !keeper.status().isReady());
        assertThat(keeper.status().lag()).isEqualTo(7);
    }

    @Test
    void stalenessCountsWhileATableLags() {
        ControlledFeeder feeder = serveFirstTable();
        topics.setEnd(PARTITION, 7);
        awaitThat(() -> !keeper.status().isReady());
        clockAdvance = Duration.ofHours(1);
        awaitThat(() -> keeper.status().staleness().compareTo(Duration.ofHours(1)) >= 0
                && keeper.status().lagAge().compareTo(Duration.ofHours(1)) < 0);

        feeder.table.setNextOffset(1, 7);

        awaitThat(() -> keeper.status().staleness().compareTo(Duration.ofHours(1)) < 0);
    }

    @Test
    void aHangingTransactionMakesItUnready() {
        serveFirstTable();

        hangingTransaction = "a transaction hangs";

        assertThat(keeper.status().unreadyReason()).isEqualTo("a transaction hangs");
    }

    @Test
    void aFeederThatWaitsForTheSchemaRegistryMakesItUnready() {
        ControlledFeeder feeder = serveFirstTable();

        feeder.schemaRegistryProblem = "no answer";

        assertThat(keeper.status().unreadyReason()).isEqualTo("waiting for the schema registry: no answer");
        assertThat(keeper.table()).isSameAs(feeder.table);
    }

    @Test
    void aTableThatNeverServedIsReleased() {
        serveFirstTable().fail("a record is corrupt");
        ControlledFeeder second = awaitFeeder(2);
        second.table.put(PURI, Rows.active("br-1"));
        assertThat(second.table.stats().bytes()).isPositive();

        second.fail("the disk is full");

        awaitFeeder(3);
        assertThat(second.table.stats().bytes()).isZero();
    }

    @Test
    void aRestartOpensTheSnapshot() {
        serveFirstTable().table.put(PURI, Rows.active("br-1"));
        keeper.close();

        createKeeper();
        keeper.start();

        ControlledFeeder second = awaitFeeder(2);
        assertThat(second.table.isFromSnapshot()).isTrue();
        assertThat(second.table.byPuri(PURI)).isNotNull();
        second.fill();
        awaitThat(() -> keeper.table() == second.table && keeper.status().isReady());
    }

    @Test
    void aSnapshotOfAFormerTopicIsSetAside() {
        serveFirstTable().table.put(PURI, Rows.active("br-1"));
        keeper.close();
        topics.create(Topics.IDENTITIES, PARTITIONS);

        createKeeper();
        keeper.start();

        ControlledFeeder second = awaitFeeder(2);
        assertThat(second.table.isFromSnapshot()).isFalse();
        assertThat(second.table.byPuri(PURI)).isNull();
        assertThat(folder).isDirectoryContaining("glob:**.refused");
    }

    @Test
    void isUnreadyWhileAPartitionDiffers() {
        ControlledFeeder feeder = serveFirstTable();
        PartitionDigest empty = PartitionDigest.EMPTY;

        feeder.digests.compare(1, 5, new PartitionDigest(1, 7), empty);

        assertThat(keeper.status().unreadyReason())
                .startsWith("partition 1 of " + Topics.IDENTITIES + " differs from the registrar at offset 5");
        assertThat(keeper.table()).isSameAs(feeder.table);
        assertThat(String.valueOf(keeper.status().digests())).contains("state=differs");
        feeder.digests.compare(1, 9, empty, empty);
        assertThat(keeper.status().isReady()).isTrue();
    }

    @Test
    void theMetricShowsThePartitionThatWasNotCompared() {
        ControlledFeeder feeder = serveFirstTable();
        clockAdvance = Duration.ofMinutes(11);

        feeder.digests.compare(1, 5, PartitionDigest.EMPTY, PartitionDigest.EMPTY);

        assertThat(meters.get("puri.digest.unchecked.seconds").gauge().value()).isGreaterThan(600);
    }

    @Test
    void findsAFlippedBit() {
        ControlledFeeder feeder = serveFirstTable();
        feeder.table.put(PURI, Rows.active("br-1"));

        TableFaults.flipBit(feeder.table, PURI);

        awaitThat(() -> !keeper.status().isReady());
        assertThat(keeper.status().unreadyReason()).contains("the stored rows of partition");
        assertThat(meters.get("puri.digest.differing").gauge().value()).isPositive();
    }

    @Test
    void writesNoSnapshotWhileAPartitionDiffers() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        keeper.start();
        ControlledFeeder feeder = awaitFeeder(1);
        feeder.digests.compare(1, 5, new PartitionDigest(1, 7), PartitionDigest.EMPTY);
        feeder.fill();
        awaitThat(() -> keeper.table() != null);

        keeper.close();

        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void doesNotFillATableFromATopicWhoseFirstRecordsWereDeleted() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        topics.setEnd(PARTITION, 9);
        topics.setBegin(PARTITION, 4);

        keeper.start();

        awaitThat(() -> String.valueOf(keeper.status().unreadyReason())
                .startsWith("records of partition 1 of " + Topics.IDENTITIES + " before offset 4 were deleted"));
        assertThat(keeper.table()).isNull();
        assertThat(feeders).isEmpty();
    }

    @Test
    void aCompleteTableServesAfterRecordsWereDeletedButIsUnready() {
        ControlledFeeder feeder = serveFirstTable();
        topics.setEnd(PARTITION, 9);
        feeder.table.setNextOffset(1, 9);

        topics.setBegin(PARTITION, 4);

        awaitThat(() -> String.valueOf(keeper.status().unreadyReason()).contains("before offset 4 were deleted"));
        assertThat(keeper.table()).isSameAs(feeder.table);
    }

    @Test
    void aRequestedRebuildReplacesTheTableWithoutItsSnapshot() {
        ControlledFeeder first = serveFirstTable();
        first.table.put(PURI, Rows.active("br-1"));
        assertThat(keeper.status().rebuildStatus()).containsEntry("state", "none");

        assertThat(keeper.requestRebuild()).isNull();

        assertThat(keeper.requestRebuild()).isNotNull();
        ControlledFeeder second = awaitFeeder(2);
        assertThat(keeper.table()).isSameAs(first.table);
        assertThat(keeper.status().isReady()).isFalse();
        assertThat(keeper.status().rebuildStatus()).containsEntry("state", "running");
        assertThat(keeper.status().details()).containsEntry("rebuild", "running");
        assertThat(second.table.isFromSnapshot()).isFalse();
        second.table.put(PURI, Rows.active("br-2"));
        second.fill();
        awaitThat(() -> keeper.table() == second.table && keeper.status().isReady());
        assertThat(keeper.status().rebuildStatus()).containsEntry("state", "done");
    }

    @Test
    void theDetailsHaveTheFailureOfTheScrub() {
        serveFirstTable();

        // Repeated, because the start and each pass of the scrub clear the failure.
        awaitThat(() -> {
            keeper.status().scrubFailure().changeTo("a bug");
            return "a bug".equals(keeper.status().details().get("scrubFailure"));
        });

        keeper.status().scrubFailure().clear();
        assertThat(keeper.status().details()).doesNotContainKey("scrubFailure");
    }

    @Test
    void aRebuildFromATopicThatLacksRecordsIsRefused() {
        ControlledFeeder feeder = serveFirstTable();
        topics.setEnd(PARTITION, 9);
        feeder.table.setNextOffset(1, 9);
        topics.setBegin(PARTITION, 4);
        awaitThat(() -> !keeper.status().isReady());

        assertThat(keeper.requestRebuild()).contains("before offset 4 were deleted");
    }

    @Test
    void aRequestedRebuildMayHaveFewerRows() {
        ControlledFeeder first = serveFirstTable();
        put(first, 200);
        assertThat(keeper.requestRebuild()).isNull();
        ControlledFeeder second = awaitFeeder(2);

        put(second, 7);
        second.fill();

        awaitThat(() -> keeper.table() == second.table && keeper.status().isReady());
    }

    /** A table of the same topic may have fewer rows than the serving one, so only the deletion shows the loss. */
    @Test
    void aRebuildIsRefusedAfterRecordsWereDeleted() {
        ControlledFeeder first = serveFirstTable();
        put(first, 200);
        assertThat(keeper.requestRebuild()).isNull();
        ControlledFeeder second = awaitFeeder(2);
        deleteRecordsBeforeOffset4();

        second.fail("a record is corrupt");

        awaitRefusalOfDeletedRecords();
        assertThat(keeper.table()).isSameAs(first.table);
        assertThat(feeders).hasSize(2);
    }

    @Test
    void aTableIsRefusedIfRecordsWereDeletedWhileItWasFilled() {
        ControlledFeeder first = serveFirstTable();
        put(first, 200);
        assertThat(keeper.requestRebuild()).isNull();
        ControlledFeeder second = awaitFeeder(2);
        deleteRecordsBeforeOffset4();

        second.fill();

        awaitRefusalOfDeletedRecords();
        assertThat(second.isClosed).isTrue();
        assertThat(keeper.table()).isSameAs(first.table);
    }

    private void deleteRecordsBeforeOffset4() {
        topics.setEnd(PARTITION, 9);
        topics.setBegin(PARTITION, 4);
    }

    private void awaitRefusalOfDeletedRecords() {
        awaitThat(() -> String.valueOf(keeper.status().unreadyReason())
                .startsWith("records of partition 1 of " + Topics.IDENTITIES + " before offset 4 were deleted"));
    }

    @Test
    void anErrorIsRetried() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        isCreationBroken = true;
        keeper.start();
        awaitThat(() -> String.valueOf(keeper.status().unreadyReason()).contains("simulated"));

        isCreationBroken = false;

        awaitFeeder(1).fill();
        awaitThat(() -> keeper.status().isReady());
    }

    @Test
    void closingEndsAFillThatDoesNotEnd() {
        topics.create(Topics.IDENTITIES, PARTITIONS);
        keeper.start();
        ControlledFeeder feeder = awaitFeeder(1);

        keeper.close();

        assertThat(feeder.isClosed).isTrue();
        assertThat(feeders).hasSize(1);
    }
}
