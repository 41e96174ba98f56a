package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("looks at all threads of this process")
@Timeout(30)
final class ReadAheadTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final long LONG = 10_000;

    private final AtomicInteger polls = new AtomicInteger();

    /** Each poll gives one record; every other offset is a marker's. */
    private class Consumer implements ReadAhead.Source {
        @Override
        public ConsumerRecords<byte[], byte[]> poll() {
            return record();
        }

        @Override
        public long position() {
            return 2L * polls.get();
        }
    }

    private ConsumerRecords<byte[], byte[]> record() {
        long offset = 2L * polls.getAndIncrement();
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, offset, new byte[1], new byte[1]);
        // An interceptor may return records without the next offsets.
        return new ConsumerRecords<>(Map.of(PARTITION, List.of(record)), Map.of());
    }

    @Test
    void takesAllRecordsInOrderAndPollsOnlyUpToTheEnd() {
        ReadAhead ahead = new ReadAhead(PARTITION, 199, new Consumer());
        List<Long> offsets = new ArrayList<>();

        ConsumerRecords<byte[], byte[]> records = ahead.take(LONG);
        while (records != null) {
            records.forEach(record -> offsets.add(record.offset()));
            assertThat(ahead.position()).isEqualTo(offsets.getLast() + 2);
            records = ahead.take(LONG);
        }

        assertThat(offsets).hasSize(100).isSorted();
        assertThat(polls).hasValue(100);
    }

    @Test
    void readAheadIsBoundedAndDoesNotMoveThePosition() {
        ReadAhead ahead = new ReadAhead(PARTITION, 1_000_000, new Consumer());

        // One more than are kept waits to be.
        await().until(() -> polls.get() > ReadAhead.MAX_POLLS);
        assertThat(polls.get()).isEqualTo(ReadAhead.MAX_POLLS + 1);
        assertThat(ahead.position()).isZero();

        ahead.stop();
    }

    @Test
    void stopFreesTheConsumerAndKeepsOnlyTakenRecords() {
        ReadAhead ahead = new ReadAhead(PARTITION, 1_000_000, new Consumer());
        Objects.requireNonNull(ahead.take(LONG));

        ahead.stop();

        assertThat(ahead.position()).isEqualTo(2);
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("table-fetcher");
    }

    @Test
    void interruptedThreadFreesTheConsumer() {
        ReadAhead ahead = new ReadAhead(PARTITION, 1_000_000, new Consumer());

        Thread.currentThread().interrupt();
        ahead.stop();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("table-fetcher");
    }

    @Test
    void rethrowsAFailureAfterTheEarlierRecords() {
        ReadAhead ahead = new ReadAhead(PARTITION, 100, new Consumer() {
            @Override
            public ConsumerRecords<byte[], byte[]> poll() {
                if (polls.get() == 2) {
                    throw new WakeupException();
                }
                return super.poll();
            }
        });

        assertThat(Objects.requireNonNull(ahead.take(LONG)).count()).isOne();
        assertThat(Objects.requireNonNull(ahead.take(LONG)).count()).isOne();
        assertThatThrownBy(() -> ahead.take(LONG)).isInstanceOf(WakeupException.class);
    }

    @Test
    void rethrowsTheFailureOfTheThreadOnEveryCall() {
        ReadAhead ahead = new ReadAhead(PARTITION, 100, new Consumer() {
            @Override
            public ConsumerRecords<byte[], byte[]> poll() {
                throw new OutOfMemoryError("a test's");
            }
        });

        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> ahead.take(LONG)).isInstanceOf(OutOfMemoryError.class);
        }
    }

    @Test
    void takeReturnsNoRecordsOfAQuietPartition() {
        ReadAhead ahead = new ReadAhead(PARTITION, 100, new Consumer() {
            @Override
            public ConsumerRecords<byte[], byte[]> poll() {
                return ConsumerRecords.empty();
            }
        });

        assertThat(Objects.requireNonNull(ahead.take(1)).isEmpty()).isTrue();

        ahead.stop();
    }
}
