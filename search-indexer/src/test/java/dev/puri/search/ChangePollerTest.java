package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ChangePollerTest {
    private static final TopicPartition PARTITION = new TopicPartition(EntryKind.IDENTITY.topic(), 0);
    private static final NextOffsets START = new NextOffsets(Map.of(PARTITION, 5L));
    private static final byte[] VALID = {1};
    private static final byte[] INVALID = {2};

    private final Deque<MockConsumer<byte[], byte[]>> consumers = new ArrayDeque<>();
    private final Supplier<Consumer<byte[], byte[]>> supplier = () -> consumers.getLast();
    private boolean isRegistryAway;
    private int decoded;

    private final ChangePoller poller = new ChangePoller(supplier, this::decode);

    private ChangeDecoder.@Nullable DecodedRecord decode(ConsumerRecord<byte[], byte[]> record, long polledAtNanos) {
        if (isRegistryAway && record.offset() == 6) {
            throw new IllegalStateException("no registry");
        }
        decoded++;
        IndexChange change = new IndexChange(EntryKind.IDENTITY, 0, record.offset(), Puri.parse("a:b:c"), null);
        return record.value()[0] == INVALID[0]
                ? null
                : new ChangeDecoder.DecodedRecord(change, null, Instant.EPOCH, null);
    }

    private MockConsumer<byte[], byte[]> consumer() {
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
        consumers.add(consumer);
        return consumer;
    }

    private static void write(MockConsumer<byte[], byte[]> consumer, long offset, byte[] value) {
        consumer.addRecord(new ConsumerRecord<>(PARTITION.topic(), 0, offset, new byte[0], value));
    }

    private ChangePoller.@Nullable Batch next() {
        return poller.unacknowledgedOrNext(START, Duration.ZERO);
    }

    private static List<Long> offsets(ChangePoller.@Nullable Batch batch) {
        return Objects.requireNonNull(batch).decodedRecords().stream()
                .map(read -> read.change().offset())
                .toList();
    }

    @Test
    void returnsDecodedRecordsAndTheNextOffsets() {
        MockConsumer<byte[], byte[]> consumer = consumer();
        consumer.schedulePollTask(() -> {
            write(consumer, 5, VALID);
            write(consumer, 6, INVALID);
            write(consumer, 7, VALID);
        });

        ChangePoller.Batch batch = next();

        assertThat(offsets(batch)).containsExactly(5L, 7L);
        assertThat(Objects.requireNonNull(batch).nextOffsets().byPartition()).containsEntry(PARTITION, 8L);
    }

    @Test
    void returnsNoBatchWithoutRecords() {
        consumer();
        assertThat(next()).isNull();
    }

    @Test
    void pollsOnlyAfterTheBatchWasTaken() {
        MockConsumer<byte[], byte[]> consumer = consumer();
        consumer.schedulePollTask(() -> write(consumer, 5, VALID));
        consumer.schedulePollTask(() -> write(consumer, 6, VALID));

        assertThat(offsets(next())).containsExactly(5L);
        assertThat(offsets(next())).containsExactly(5L);
        poller.acknowledge();
        assertThat(offsets(next())).containsExactly(6L);
    }

    @Test
    void continuesWithTheRecordThatCouldNotBeDecoded() {
        MockConsumer<byte[], byte[]> consumer = consumer();
        consumer.schedulePollTask(() -> {
            write(consumer, 5, VALID);
            write(consumer, 6, VALID);
        });
        isRegistryAway = true;
        assertThatThrownBy(this::next).hasMessage("no registry");
        assertThatThrownBy(this::next).hasMessage("no registry");
        assertThat(decoded).isEqualTo(1);

        isRegistryAway = false;

        assertThat(offsets(next())).containsExactly(5L, 6L);
        assertThat(decoded).isEqualTo(2);
    }

    @Test
    void aNewConsumerBeginsAtTheNextOffsets() {
        MockConsumer<byte[], byte[]> first = consumer();
        assertThat(next()).isNull();

        poller.disconnect();
        MockConsumer<byte[], byte[]> second = consumer();
        second.schedulePollTask(() -> {
            write(second, 4, VALID);
            write(second, 5, VALID);
        });

        assertThat(first.closed()).isTrue();
        assertThat(offsets(next())).containsExactly(5L);
    }
}
