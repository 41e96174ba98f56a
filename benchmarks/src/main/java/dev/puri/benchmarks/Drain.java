package dev.puri.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic as a resolver would, committed records only, and measures the rate at which they arrive. */
final class Drain implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /**
     * A measured rate.
     *
     * @param perSecond records
     * @param cpuMicros processor time of this whole process for each record, broker and reader included;
     *     other processes lower the rate, but hardly raise this
     */
    record Pace(double perSecond, double cpuMicros) {}

    /** Reads the topic from its beginning. */
    Drain(String bootstrapServers, String topic) {
        consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        bootstrapServers,
                        "isolation.level",
                        "read_committed",
                        "auto.offset.reset",
                        "earliest",
                        "max.poll.records",
                        2000),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> partitions = IntStream.range(0, FreshBroker.PARTITIONS)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        partitions.forEach(consumer::position);
    }

    /**
     * Reads so many records and measures the rate from the first tenth to the last record. The start of the writer does not
     * count; its end, when partitions run dry, does.
     *
     * @param isAlive whether the writer still runs
     * @throws IllegalStateException when records stop arriving, or more arrive than expected
     */
    Pace paceOf(int expected, BooleanSupplier isAlive) {
        int read = 0;
        int before = 0;
        long begun = 0;
        long cpuBegun = 0;
        long last = System.nanoTime();
        while (read < expected) {
            int got = consumer.poll(POLL).count();
            long now = System.nanoTime();
            if (got > 0) {
                read += got;
                last = now;
            } else if (!isAlive.getAsBoolean() || now - last > PATIENCE.toNanos()) {
                throw new IllegalStateException("only " + read + " of " + expected + " records arrived");
            }
            if (before == 0 && read >= expected / 10) {
                before = read;
                begun = now;
                cpuBegun = process.getProcessCpuTime();
            }
        }
        if (read != expected) {
            throw new IllegalStateException(read + " records arrived instead of " + expected);
        }
        int counted = read - before;
        double cpuMicros = (process.getProcessCpuTime() - cpuBegun) / 1e3 / counted;
        return new Pace(counted / ((last - begun) / 1e9), cpuMicros);
    }

    @Override
    public void close() {
        consumer.close();
    }
}
