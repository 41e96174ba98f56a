package dev.puri.benchmarks.data;

import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.environment.FreshBroker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Grows the changelog of a stopped job by copies of one of its records, each with a new key. A job that restores its
 * store from the changelog then has as many entries and bytes as one that has processed that many events, and the
 * copies are written at a multiple of the rate.
 */
public final class ChangelogCopies {
    private static final Duration SAMPLE_TIMEOUT = Duration.ofSeconds(30);

    private ChangelogCopies() {}

    /**
     * Adds copies whose keys are random bytes.
     *
     * @param count number of copies over all partitions
     */
    public static void addWithRandomKeys(FreshBroker broker, String changelog, int count) throws Exception {
        add(broker, changelog, count, (sample, number) -> {
            ByteBuffer key = ByteBuffer.allocate(sample.length);
            for (long word = Population.mixed(number); key.remaining() > 0; word = Population.mixed(word)) {
                if (key.remaining() >= Long.BYTES) {
                    key.putLong(word);
                } else {
                    key.put((byte) word);
                }
            }
            return key.array();
        });
    }

    /**
     * Adds copies whose keys are handles.
     *
     * @param count number of copies over all partitions
     */
    public static void addWithRandomHandles(FreshBroker broker, String changelog, int count) throws Exception {
        add(broker, changelog, count, (sample, number) -> Population.handleBytes(number));
    }

    private interface KeyMaker {
        byte[] key(byte[] sample, long number);
    }

    private static void add(FreshBroker broker, String changelog, int count, KeyMaker keys) throws Exception {
        ConsumerRecord<byte[], byte[]> sample = sample(broker, changelog);
        AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer =
                Population.producer(broker.bootstrapServers(), "enable.idempotence", false)) {
            for (long number = 0; number < count && failure.get() == null; number++) {
                producer.send(
                        new ProducerRecord<>(
                                changelog,
                                (int) (number % FreshBroker.PARTITIONS),
                                keys.key(sample.key(), number),
                                sample.value()),
                        (sent, e) -> failure.compareAndSet(null, e));
            }
        }
        if (failure.get() != null) {
            throw new IOException("not all copies were written to " + changelog, failure.get());
        }
    }

    /** Returns a record of the usual size: neither a marker nor a tombstone. */
    private static ConsumerRecord<byte[], byte[]> sample(FreshBroker broker, String changelog) throws IOException {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = broker.consumer(changelog)) {
            Await.until("a record of " + changelog, SAMPLE_TIMEOUT, () -> {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> {
                    if (record.value() != null) {
                        records.add(record);
                    }
                });
                return !records.isEmpty();
            });
        }
        records.sort((a, b) -> Integer.compare(a.value().length, b.value().length));
        return records.get(records.size() / 2);
    }
}
