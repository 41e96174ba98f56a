package dev.puri.projection.transactions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.transactions.OpenTransaction.CoordinatorReport;
import dev.puri.projection.transactions.StallTimer.ObservedOffsets;
import dev.puri.projection.transactions.StallTimer.Offsets;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class TransactionMonitorTest {
    private static final TopicPartition PARTITION = new TopicPartition("puri.identities.v1", 3);
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final FakeReader reader = new FakeReader();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final TransactionMonitor monitor =
            new TransactionMonitor(() -> reader, topic -> !topic.startsWith("other"), () -> reader.nanos, meters);

    @Test
    void aTransactionThatTheCoordinatorHasCommittedHangs() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        assertThat(monitor.unreadyReason()).isNull();

        checkAfter(Duration.ofSeconds(10));

        assertThat(monitor.unreadyReason())
                .isEqualTo(
                        "puri.identities.v1-3 cannot be read beyond offset 41 for 10 s: the transaction of producer 7,"
                                + " epoch 2, transactional id puri-registry-1, is open here, and its coordinator has committed"
                                + " it elsewhere");
        assertThat(monitor.ready().up()).isFalse();
        assertThat(monitor.ready().details().toString())
                .contains(
                        "producerId=7",
                        "producerEpoch=2",
                        "transactionalId=puri-registry-1",
                        "coordinatorState=CompleteCommit",
                        "--topic puri.identities.v1 --partition 3 --start-offset 41",
                        "contradicts the commit");
        assertThat(hanging()).isEqualTo(1);
    }

    @Test
    void noLongerHangsOnceTheOffsetMoves() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        checkAfter(Duration.ofSeconds(10));
        reader.offsets.put(PARTITION, new Offsets(50, 50));

        checkAfter(Duration.ofSeconds(5));

        assertThat(monitor.unreadyReason()).isNull();
        assertThat(monitor.ready().up()).isTrue();
        assertThat(hanging()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"})
    void doesNotReportALongTransactionBeforeItsTimeoutAndItsAbort(TransactionState state) {
        reader.stall(PARTITION, 41, coordinator(state, true));
        monitor.check();
        checkAfter(TIMEOUT.plusSeconds(19));
        assertThat(monitor.unreadyReason()).isNull();

        checkAfter(Duration.ofSeconds(1));

        assertThat(monitor.unreadyReason()).contains("producer 7", "puri-registry-1");
    }

    @ParameterizedTest
    @EnumSource(names = {"PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"})
    void doesNotAdviseAbortingATransactionThatTheCoordinatorEnds(TransactionState state) {
        reader.stall(PARTITION, 41, coordinator(state, true));
        monitor.check();
        checkAfter(TIMEOUT.plusSeconds(20));

        assertThat(monitor.ready().details().toString())
                .contains("do not abort it by hand")
                .doesNotContain("kafka-transactions.sh");
    }

    @ParameterizedTest
    @EnumSource(names = {"ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"})
    void aTransactionOfOtherPartitionsIsALaterOne(TransactionState state) {
        reader.stall(PARTITION, 41, coordinator(state, false));
        monitor.check();

        checkAfter(Duration.ofSeconds(10));

        assertThat(monitor.unreadyReason()).contains("its coordinator does not know it");
        assertThat(monitor.ready().details().toString()).contains("it may have been committed elsewhere");
    }

    @Test
    void waitsForTheLongestTimeoutIfTheCoordinatorDoesNotAnswer() {
        reader.stall(PARTITION, 41, null);
        monitor.check();
        checkAfter(FakeReader.LONGEST.plusSeconds(19));
        assertThat(monitor.unreadyReason()).isNull();

        checkAfter(Duration.ofSeconds(1));

        assertThat(monitor.unreadyReason())
                .contains("producer 7", "has been open for longer than any transaction may be");
        assertThat(monitor.ready().details().toString())
                .contains("find-hanging --topic puri.identities.v1 --partition 3");
    }

    @Test
    void reportsAnUnknownProducer() {
        reader.offsets.put(PARTITION, new Offsets(41, 50));
        monitor.check();

        checkAfter(FakeReader.LONGEST.plusSeconds(20));

        assertThat(monitor.unreadyReason()).contains("cannot be read beyond offset 41", "READ on the topic");
    }

    @Test
    void aTransactionThatEndsDuringTheCheckDoesNotHang() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        reader.endsWhileAsked = true;

        checkAfter(Duration.ofSeconds(10));

        assertThat(monitor.unreadyReason()).isNull();
    }

    @Test
    void stillHangsWhileThePartitionHasNoLeader() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        checkAfter(Duration.ofSeconds(10));
        reader.unanswered.add(PARTITION);

        checkAfter(Duration.ofSeconds(5));
        assertThat(monitor.unreadyReason()).contains("producer 7", "puri-registry-1");

        reader.unanswered.clear();
        reader.offsets.put(PARTITION, new Offsets(50, 50));
        checkAfter(Duration.ofSeconds(5));
        assertThat(monitor.unreadyReason()).isNull();
    }

    @Test
    void stillHangsWhenThePartitionLosesItsLeaderDuringTheCheck() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        checkAfter(Duration.ofSeconds(10));
        reader.isLostWhileAsked = true;

        checkAfter(Duration.ofSeconds(5));

        assertThat(monitor.unreadyReason()).contains("producer 7", "puri-registry-1");
    }

    @Test
    void stillHangsWhileItsCoordinatorDoesNotAnswer() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        checkAfter(Duration.ofSeconds(10));
        reader.open.clear();

        checkAfter(Duration.ofSeconds(5));

        assertThat(monitor.unreadyReason()).contains("producer 7", "puri-registry-1");
    }

    @Test
    void aDeletedPartitionNoLongerHangs() {
        reader.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        monitor.check();
        checkAfter(Duration.ofSeconds(10));
        reader.offsets.clear();

        checkAfter(Duration.ofSeconds(5));

        assertThat(monitor.unreadyReason()).isNull();
    }

    @Test
    void otherTopicsAreReportedAndLeaveTheServerReady() {
        reader.stall(new TopicPartition("other", 0), 41, coordinator(TransactionState.EMPTY, false));
        monitor.check();

        checkAfter(Duration.ofSeconds(10));

        assertThat(monitor.unreadyReason()).isNull();
        assertThat(monitor.ready().up()).isTrue();
        assertThat(monitor.ready().details().toString()).contains("topic=other");
        assertThat(hanging()).isEqualTo(1);
    }

    @Test
    void requestsProducersOnlyForStalledPartitions() {
        reader.offsets.put(PARTITION, new Offsets(41, 41));
        monitor.check();
        checkAfter(Duration.ofMinutes(1));
        assertThat(reader.asked).isZero();
    }

    @Test
    void limitsTheRequestsForAClusterThatHangs() {
        for (int i = 0; i < 1000; i++) {
            reader.stall(new TopicPartition("t", i), i, coordinator(TransactionState.EMPTY, false));
        }
        monitor.check();

        checkAfter(Duration.ofSeconds(10));

        assertThat(reader.asked).isEqualTo(20);
        assertThat(monitor.unreadyReason()).endsWith("(and 19 more)");
    }

    @Test
    void manyHangingTransactionsInOtherTopicsDoNotHideOneInAnEssentialTopic() {
        for (int i = 0; i < 1000; i++) {
            reader.stall(new TopicPartition("other", i), i, coordinator(TransactionState.EMPTY, false));
        }
        monitor.check();
        checkAfter(Duration.ofSeconds(10));
        reader.stall(PARTITION, 41, coordinator(TransactionState.EMPTY, false));
        checkAfter(Duration.ofSeconds(5));

        checkAfter(Duration.ofSeconds(10));

        assertThat(monitor.unreadyReason()).contains("puri.identities.v1-3");
        assertThat(hanging()).isEqualTo(20);
    }

    private void checkAfter(Duration time) {
        reader.nanos += time.toNanos();
        monitor.check();
    }

    private double hanging() {
        return meters.get("puri.transactions.hanging").gauge().value();
    }

    private static CoordinatorReport coordinator(TransactionState state, boolean hasPartition) {
        return new CoordinatorReport("puri-registry-1", state, TIMEOUT, hasPartition);
    }

    private static final class FakeReader implements TransactionReader {
        private static final Duration LONGEST = Duration.ofMinutes(15);

        private final Map<TopicPartition, Offsets> offsets = new HashMap<>();
        private final Set<TopicPartition> unanswered = new HashSet<>();
        private final Map<TopicPartition, OpenTransaction> open = new HashMap<>();
        private long nanos = 5;
        private int asked;
        private boolean endsWhileAsked;
        private boolean isLostWhileAsked;

        void stall(TopicPartition partition, long lastStable, @Nullable CoordinatorReport coordinator) {
            offsets.put(partition, new Offsets(lastStable, lastStable + 9));
            open.put(partition, new OpenTransaction(7, 2, Instant.EPOCH, coordinator));
        }

        @Override
        public ObservedOffsets offsets() {
            Map<TopicPartition, Offsets> reported = new HashMap<>(offsets);
            reported.keySet().removeAll(unanswered);
            return new ObservedOffsets(reported, Set.copyOf(unanswered));
        }

        @Override
        public Map<TopicPartition, OpenTransaction> openTransactions(Collection<StalledPartition> partitions) {
            asked += partitions.size();
            if (endsWhileAsked) {
                partitions.forEach(each -> offsets.put(each.partition(), new Offsets(60, 60)));
            }
            if (isLostWhileAsked) {
                partitions.forEach(each -> unanswered.add(each.partition()));
            }
            List<TopicPartition> names =
                    partitions.stream().map(StalledPartition::partition).toList();
            Map<TopicPartition, OpenTransaction> found = new HashMap<>(open);
            found.keySet().retainAll(names);
            return found;
        }

        @Override
        public Duration maxTimeout() {
            return LONGEST;
        }

        @Override
        public void close() {}
    }
}
