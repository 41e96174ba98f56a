package dev.puri.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.puri.schemas.log.Topics;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads {@code puri.identities.v1} as a resolver would, committed records only, and tells at what pace they come. */
final class Drain implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /**
     * How fast records came.
     *
     * @param perSecond records
     * @param cpuMicros processor time of this whole process for each record, broker and reader included;
     *     other processes slow the rate down, but hardly raise this
     */
    record Pace(double perSecond, double cpuMicros) {}

    Drain(String bootstrapServers) {
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
                .mapToObj(partition -> new TopicPartition(Topics.IDENTITIES, partition))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        partitions.forEach(consumer::position);
    }

    /**
     * Reads them, and tells the pace from when a tenth of them is there to when the last one is: starting up is not
     * part of it, and running dry is.
     *
     * @param isAlive whether who writes them still runs
     * @throws IllegalStateException when they stop coming
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
                throw new IllegalStateException("only " + read + " of " + expected + " identities came");
            }
            if (before == 0 && read >= expected / 10) {
                before = read;
                begun = now;
                cpuBegun = process.getProcessCpuTime();
            }
        }
        if (read != expected) {
            throw new IllegalStateException(read + " identities came of " + expected + " events");
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
