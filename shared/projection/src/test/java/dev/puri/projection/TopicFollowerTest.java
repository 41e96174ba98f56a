package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a follower with mock consumers. Only polls advance the clock: each by its timeout. */
@Timeout(60)
final class TopicFollowerTest {
    private static final String TOPIC = "topic";
    private static final Instant NOW = Instant.parse("2026-11-20T10:00:00Z");

    private final List<String> handled = new ArrayList<>();
    private final Deque<FakeConsumer> consumers = new ArrayDeque<>();
    private Runnable onRecord = () -> {};
    private Runnable onTick = () -> {};
    private long nanos = System.nanoTime();

    private final TopicFollower follower = new TopicFollower(
            TOPIC,
            Long.MAX_VALUE,
            this::nextConsumer,
            new TopicFollower.Handler() {
                @Override
                public void reset() {
                    handled.add("reset");
                }

                @Override
                public void handle(ConsumerRecord<byte[], byte[]> record) {
                    onRecord.run();
                    handled.add(record.partition() + "@" + record.offset());
                }

                @Override
                public void tick() {
                    onTick.run();
                }
            },
            InstantSource.fixed(NOW),
            () -> nanos,
            new SimpleMeterRegistry());

    @Test
    void hasCaughtUpOnceItHasReadToTheEndOffsets() {
        FakeConsumer consumer = consumer(1);
        consumer.ends(2);
        consumer.onPoll(() -> consumer.write(0, 0));
        consumer.onPoll(() -> {
            assertThat(follower.hasCaughtUp()).isFalse();
            assertThat(follower.staleness()).isNull();
            consumer.write(0, 1);
        });
        consumer.onPoll(() -> {
            assertThat(follower.hasCaughtUp()).isTrue();
            assertThat(follower.staleness()).isNotNull();
            assertThat(follower.failureReason()).isNull();
            follower.close();
        });

        follower.followOnce();

        assertThat(handled).containsExactly("reset", "0@0", "0@1");
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void markersOfTransactionsCountAsRead() {
        FakeConsumer consumer = consumer(1);
        consumer.ends(2);
        consumer.onPoll(() -> consumer.write(0, 0));
        consumer.onPoll(() -> consumer.seek(partition(0), 2));
        consumer.onPoll(() -> {
            assertThat(follower.hasCaughtUp()).isTrue();
            follower.close();
        });

        follower.followOnce();

        assertThat(handled).containsExactly("reset", "0@0");
    }

    @Test
    void continuesFromTheSameOffsetAfterAFailure() {
        FakeConsumer failing = consumer(1);
        failing.ends(2);
        failing.onPoll(() -> failing.write(0, 0));
        failing.onPoll(() -> failing.setPollException(new KafkaException("gone")));
        attemptFails(KafkaException.class);
        assertThat(follower.failureReason()).isEqualTo("gone");
        FakeConsumer next = consumer(1);
        next.ends(2);
        next.onPoll(() -> next.write(0, 1));
        next.onPoll(follower::close);

        follower.followOnce();

        assertThat(handled).containsExactly("reset", "0@0", "0@1");
        assertThat(follower.failureReason()).isNull();
    }

    @Test
    void aTopicThatEndsBeforeTheNextOffsetIsReadFromItsBeginning() {
        FakeConsumer before = consumer(1);
        before.ends(2);
        before.onPoll(() -> before.write(0, 0, 1));
        onTick = () -> before.ends(1);
        attemptFails(RuntimeException.class);
        assertThat(follower.failureReason()).contains("created again");
        onTick = () -> {};
        FakeConsumer after = consumer(1);
        after.ends(1);
        after.onPoll(() -> after.write(0, 0));
        after.onPoll(follower::close);

        follower.followOnce();

        assertThat(handled).containsExactly("reset", "0@0", "0@1", "reset", "0@0");
    }

    @Test
    void readsFromTheBeginningIfRecordsWereDeleted() {
        FakeConsumer before = consumer(1);
        before.ends(2);
        before.onPoll(() -> before.write(0, 0));
        before.onPoll(() -> before.setPollException(new OffsetOutOfRangeException(Map.of(partition(0), 1L))));
        attemptFails(OffsetOutOfRangeException.class);
        assertThat(follower.failureReason()).isEqualTo("records were deleted before they were read");
        FakeConsumer after = consumer(1);
        after.begins(5);
        after.ends(6);
        after.onPoll(() -> after.write(0, 5));
        after.onPoll(follower::close);

        follower.followOnce();

        assertThat(handled).containsExactly("reset", "0@0", "reset", "0@5");
    }

    @Test
    void newPartitionsEndTheAttemptAndAreReadFromTheirBeginning() {
        FakeConsumer one = consumer(1);
        one.ends(1);
        one.onPoll(() -> one.write(0, 0));
        onTick = () -> one.partitions(2);
        follower.followOnce();
        onTick = () -> {};
        FakeConsumer two = consumer(2);
        two.ends(1, 1);
        two.onPoll(() -> {
            two.write(0, 0);
            two.write(1, 0);
        });
        two.onPoll(follower::close);

        follower.followOnce();

        assertThat(handled).startsWith("reset", "0@0", "reset").containsOnlyOnce("1@0");
        assertThat(handled).hasSize(5);
    }

    @Test
    void aTopicThatIsMissingIsReported() {
        consumer(0);

        attemptFails(RuntimeException.class);

        assertThat(follower.failureReason()).contains("there is no such topic yet");
        assertThat(follower.hasCaughtUp()).isFalse();
    }

    @Test
    void anEndThatIsNotReachedIsReported() {
        FakeConsumer consumer = consumer(1);
        consumer.ends(1);

        attemptFails(RuntimeException.class);

        assertThat(follower.failureReason()).isEqualTo("reading makes no progress, although the end is not reached");
        assertThat(consumer.closed()).isTrue();
    }

    @Test
    void passesARecordAgainAfterItsHandlerFailed() {
        FakeConsumer first = consumer(1);
        first.ends(1);
        first.onPoll(() -> first.write(0, 0));
        onRecord = () -> {
            throw new IllegalStateException("a test's");
        };
        attemptFails(IllegalStateException.class);
        assertThat(follower.failureReason()).contains("a test's");
        onRecord = () -> {};
        FakeConsumer second = consumer(1);
        second.ends(1);
        second.onPoll(() -> second.write(0, 0));
        second.onPoll(follower::close);

        follower.followOnce();

        assertThat(handled).containsExactly("reset", "0@0");
        assertThat(follower.hasCaughtUp()).isTrue();
    }

    private void attemptFails(Class<? extends Throwable> type) {
        assertThatThrownBy(() -> {
                    try {
                        follower.followOnce();
                    } catch (RuntimeException e) {
                        follower.onFailure(e);
                        throw e;
                    }
                })
                .isInstanceOf(type);
    }

    private Consumer<byte[], byte[]> nextConsumer() {
        return consumers.remove();
    }

    private FakeConsumer consumer(int partitions) {
        FakeConsumer consumer = new FakeConsumer();
        consumer.partitions(partitions);
        consumer.begins(new long[partitions]);
        consumers.add(consumer);
        return consumer;
    }

    private static TopicPartition partition(int partition) {
        return new TopicPartition(TOPIC, partition);
    }

    private final class FakeConsumer extends MockConsumer<byte[], byte[]> {
        FakeConsumer() {
            super("none");
        }

        void partitions(int count) {
            Node node = new Node(0, "localhost", 9092);
            updatePartitions(
                    TOPIC,
                    IntStream.range(0, count)
                            .mapToObj(i -> new PartitionInfo(TOPIC, i, node, new Node[] {node}, new Node[] {node}))
                            .toList());
        }

        void begins(long... offsets) {
            updateBeginningOffsets(byPartition(offsets));
        }

        void ends(long... offsets) {
            updateEndOffsets(byPartition(offsets));
        }

        private Map<TopicPartition, Long> byPartition(long... offsets) {
            Map<TopicPartition, Long> byPartition = new HashMap<>();
            for (int i = 0; i < offsets.length; i++) {
                byPartition.put(partition(i), offsets[i]);
            }
            return byPartition;
        }

        void write(int partition, long... offsets) {
            Arrays.stream(offsets)
                    .forEach(offset ->
                            addRecord(new ConsumerRecord<>(TOPIC, partition, offset, new byte[] {1}, new byte[] {2})));
        }

        void onPoll(Runnable action) {
            schedulePollTask(action);
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            nanos += timeout.toNanos();
            return super.poll(timeout);
        }
    }
}
