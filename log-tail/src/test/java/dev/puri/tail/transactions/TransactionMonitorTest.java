package dev.puri.tail.transactions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.tail.transactions.OpenTransaction.Coordinator;
import dev.puri.tail.transactions.StableOffsets.Offsets;
import dev.puri.tail.transactions.StableOffsets.Snapshot;
import dev.puri.tail.transactions.StableOffsets.Stalled;
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

    private final FakeView view = new FakeView();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final TransactionMonitor watch =
            new TransactionMonitor(() -> view, topic -> !topic.startsWith("other"), () -> view.nanos, meters);

    @Test
    void aTransactionThatTheCoordinatorHasCommittedHangs() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        assertThat(watch.reason()).isNull();

        lookAfter(Duration.ofSeconds(10));

        assertThat(watch.reason())
                .isEqualTo(
                        "puri.identities.v1-3 cannot be read beyond offset 41 for 10 s: the transaction of producer 7,"
                                + " epoch 2, transactional id puri-registry-1, is open here, and its coordinator has committed"
                                + " it elsewhere");
        assertThat(watch.ready().up()).isFalse();
        assertThat(watch.ready().details().toString())
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
    void itHangsNoMoreOnceTheOffsetMoves() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        lookAfter(Duration.ofSeconds(10));
        view.offsets.put(PARTITION, new Offsets(50, 50));

        lookAfter(Duration.ofSeconds(5));

        assertThat(watch.reason()).isNull();
        assertThat(watch.ready().up()).isTrue();
        assertThat(hanging()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"})
    void aLongTransactionIsNoAlarmBeforeItsTimeoutAndItsAbort(TransactionState state) {
        view.stall(PARTITION, 41, coordinator(state, true));
        watch.look();
        lookAfter(TIMEOUT.plusSeconds(19));
        assertThat(watch.reason()).isNull();

        lookAfter(Duration.ofSeconds(1));

        assertThat(watch.reason()).contains("producer 7", "puri-registry-1");
    }

    @ParameterizedTest
    @EnumSource(names = {"PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"})
    void doesNotAdviseAbortingATransactionThatTheCoordinatorEnds(TransactionState state) {
        view.stall(PARTITION, 41, coordinator(state, true));
        watch.look();
        lookAfter(TIMEOUT.plusSeconds(20));

        assertThat(watch.ready().details().toString())
                .contains("do not abort it by hand")
                .doesNotContain("kafka-transactions.sh");
    }

    @ParameterizedTest
    @EnumSource(names = {"ONGOING", "PREPARE_COMMIT", "PREPARE_ABORT", "PREPARE_EPOCH_FENCE"})
    void aTransactionOfOtherPartitionsIsALaterOne(TransactionState state) {
        view.stall(PARTITION, 41, coordinator(state, false));
        watch.look();

        lookAfter(Duration.ofSeconds(10));

        assertThat(watch.reason()).contains("its coordinator knows nothing of it");
        assertThat(watch.ready().details().toString()).contains("it may have been committed elsewhere");
    }

    @Test
    void waitsForTheLongestTimeoutIfTheCoordinatorDoesNotAnswer() {
        view.stall(PARTITION, 41, null);
        watch.look();
        lookAfter(FakeView.LONGEST.plusSeconds(19));
        assertThat(watch.reason()).isNull();

        lookAfter(Duration.ofSeconds(1));

        assertThat(watch.reason()).contains("producer 7", "is open for longer than any may be");
        assertThat(watch.ready().details().toString())
                .contains("find-hanging --topic puri.identities.v1 --partition 3");
    }

    @Test
    void reportsAnUnknownProducer() {
        view.offsets.put(PARTITION, new Offsets(41, 50));
        watch.look();

        lookAfter(FakeView.LONGEST.plusSeconds(20));

        assertThat(watch.reason()).contains("cannot be read beyond offset 41", "READ on the topic");
    }

    @Test
    void aTransactionThatEndsWhileItIsAskedForDoesNotHang() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        view.endsWhileAsked = true;

        lookAfter(Duration.ofSeconds(10));

        assertThat(watch.reason()).isNull();
    }

    @Test
    void itHangsStillWhileThePartitionHasNoLeader() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        lookAfter(Duration.ofSeconds(10));
        view.unanswered.add(PARTITION);

        lookAfter(Duration.ofSeconds(5));
        assertThat(watch.reason()).contains("producer 7", "puri-registry-1");

        view.unanswered.clear();
        view.offsets.put(PARTITION, new Offsets(50, 50));
        lookAfter(Duration.ofSeconds(5));
        assertThat(watch.reason()).isNull();
    }

    @Test
    void itHangsStillWhenThePartitionLosesItsLeaderWhileItIsAskedFor() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        lookAfter(Duration.ofSeconds(10));
        view.isLostWhileAsked = true;

        lookAfter(Duration.ofSeconds(5));

        assertThat(watch.reason()).contains("producer 7", "puri-registry-1");
    }

    @Test
    void itHangsStillWhileItsCoordinatorDoesNotAnswer() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        lookAfter(Duration.ofSeconds(10));
        view.open.clear();

        lookAfter(Duration.ofSeconds(5));

        assertThat(watch.reason()).contains("producer 7", "puri-registry-1");
    }

    @Test
    void aPartitionThatIsDeletedHangsNoMore() {
        view.stall(PARTITION, 41, coordinator(TransactionState.COMPLETE_COMMIT, true));
        watch.look();
        lookAfter(Duration.ofSeconds(10));
        view.offsets.clear();

        lookAfter(Duration.ofSeconds(5));

        assertThat(watch.reason()).isNull();
    }

    @Test
    void otherTopicsAreReportedAndLeaveTheServerReady() {
        view.stall(new TopicPartition("other", 0), 41, coordinator(TransactionState.EMPTY, false));
        watch.look();

        lookAfter(Duration.ofSeconds(10));

        assertThat(watch.reason()).isNull();
        assertThat(watch.ready().up()).isTrue();
        assertThat(watch.ready().details().toString()).contains("topic=other");
        assertThat(hanging()).isEqualTo(1);
    }

    @Test
    void producersAreAskedForOnlyWhenAPartitionWaits() {
        view.offsets.put(PARTITION, new Offsets(41, 41));
        watch.look();
        lookAfter(Duration.ofMinutes(1));
        assertThat(view.asked).isZero();
    }

    @Test
    void aWholeClusterThatHangsIsAskedForInBounds() {
        for (int i = 0; i < 1000; i++) {
            view.stall(new TopicPartition("t", i), i, coordinator(TransactionState.EMPTY, false));
        }
        watch.look();

        lookAfter(Duration.ofSeconds(10));

        assertThat(view.asked).isEqualTo(20);
        assertThat(watch.reason()).endsWith("(and 19 more)");
    }

    private void lookAfter(Duration time) {
        view.nanos += time.toNanos();
        watch.look();
    }

    private double hanging() {
        return meters.get("puri.transactions.hanging").gauge().value();
    }

    private static Coordinator coordinator(TransactionState state, boolean hasPartition) {
        return new Coordinator("puri-registry-1", state, TIMEOUT, hasPartition);
    }

    private static final class FakeView implements TransactionView {
        private static final Duration LONGEST = Duration.ofMinutes(15);

        private final Map<TopicPartition, Offsets> offsets = new HashMap<>();
        private final Set<TopicPartition> unanswered = new HashSet<>();
        private final Map<TopicPartition, OpenTransaction> open = new HashMap<>();
        private long nanos = 5;
        private int asked;
        private boolean endsWhileAsked;
        private boolean isLostWhileAsked;

        void stall(TopicPartition partition, long lastStable, @Nullable Coordinator coordinator) {
            offsets.put(partition, new Offsets(lastStable, lastStable + 9));
            open.put(partition, new OpenTransaction(7, 2, Instant.EPOCH, coordinator));
        }

        @Override
        public Snapshot offsets() {
            Map<TopicPartition, Offsets> told = new HashMap<>(offsets);
            told.keySet().removeAll(unanswered);
            return new Snapshot(told, Set.copyOf(unanswered));
        }

        @Override
        public Map<TopicPartition, OpenTransaction> open(Collection<Stalled> partitions) {
            asked += partitions.size();
            if (endsWhileAsked) {
                partitions.forEach(each -> offsets.put(each.partition(), new Offsets(60, 60)));
            }
            if (isLostWhileAsked) {
                partitions.forEach(each -> unanswered.add(each.partition()));
            }
            List<TopicPartition> names =
                    partitions.stream().map(Stalled::partition).toList();
            Map<TopicPartition, OpenTransaction> found = new HashMap<>(open);
            found.keySet().retainAll(names);
            return found;
        }

        @Override
        public Duration longestTimeout() {
            return LONGEST;
        }

        @Override
        public void close() {}
    }
}
