package dev.puri.benchmarks.data;

import dev.puri.benchmarks.environment.FreshBroker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Grows the changelog of a stopped job by copies of one of its records, each with a new key. A job that restores its
 * store from the changelog then has as many entries and bytes as one that has processed that many events, and the
 * copies are written at a multiple of the rate.
 */
public final class ChangelogCopies {
    private ChangelogCopies() {}

    /**
     * Adds copies whose keys are random bytes.
     *
     * @param count number of copies over all partitions
     */
    public static void addWithRandomKeys(FreshBroker broker, String changelog, int count) throws IOException {
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
    public static void addWithRandomHandles(FreshBroker broker, String changelog, int count) throws IOException {
        add(broker, changelog, count, (sample, number) -> Population.handleBytes(number));
    }

    private interface KeyMaker {
        byte[] key(byte[] sample, long number);
    }

    private static void add(FreshBroker broker, String changelog, int count, KeyMaker keys) throws IOException {
        ConsumerRecord<byte[], byte[]> sample = sample(broker, changelog);
        Population.send(
                broker.bootstrapServers(),
                "enable.idempotence",
                false,
                LongStream.range(0, count)
                        .mapToObj(number -> new ProducerRecord<>(
                                changelog,
                                (int) (number % FreshBroker.PARTITIONS),
                                keys.key(sample.key(), number),
                                sample.value())));
    }

    /** Returns a record whose value has the median size. */
    private static ConsumerRecord<byte[], byte[]> sample(FreshBroker broker, String changelog) throws IOException {
        List<ConsumerRecord<byte[], byte[]>> records = broker.sample(changelog, 1);
        records.sort(Comparator.comparingInt(record -> record.value().length));
        return records.get(records.size() / 2);
    }
}
