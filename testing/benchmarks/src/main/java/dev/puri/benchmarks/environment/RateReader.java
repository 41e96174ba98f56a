package dev.puri.benchmarks.environment;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** Reads the committed records of a topic, as a resolver does, and measures the rate at which they arrive. */
public final class RateReader implements AutoCloseable {
    private static final Duration MAX_PAUSE = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /**
     * A measured rate.
     *
     * @param perSecond records per second
     * @param cpuMicros processor time of this process per record, broker and reader included; other processes on the
     *     machine lower the rate, but hardly raise this figure
     */
    public record Rate(double perSecond, double cpuMicros) {}

    /** Creates a reader at the beginning of the topic. */
    public RateReader(FreshBroker broker, String topic) {
        consumer = broker.consumer(topic);
    }

    /**
     * Reads records, and measures the rate between the first tenth and the last record. So the start of the writer does
     * not count, but its end does, when only some partitions still have records.
     *
     * @param expected number of records
     * @param isAlive whether the writer still runs
     * @throws IllegalStateException if no further records arrive, or more records than expected
     */
    public Rate read(int expected, BooleanSupplier isAlive) {
        return read(expected, isAlive, MAX_PAUSE);
    }

    /**
     * Reads records as {@link #read(int, BooleanSupplier)} does, from a writer that may be silent for longer.
     *
     * @param maxPause the longest time between two records, and before the first one
     */
    public Rate read(int expected, BooleanSupplier isAlive, Duration maxPause) {
        int readCount = 0;
        int warmUpCount = 0;
        long startNanos = 0;
        long cpuStartNanos = 0;
        long lastReadNanos = System.nanoTime();
        while (readCount < expected) {
            int polledCount = rowCount(consumer.poll(POLL));
            long now = System.nanoTime();
            if (polledCount > 0) {
                readCount += polledCount;
                lastReadNanos = now;
            } else if (!isAlive.getAsBoolean() || now - lastReadNanos > maxPause.toNanos()) {
                throw new IllegalStateException("only " + readCount + " of " + expected + " records arrived");
            }
            if (warmUpCount == 0 && readCount >= expected / 10) {
                warmUpCount = readCount;
                startNanos = now;
                cpuStartNanos = process.getProcessCpuTime();
            }
        }
        if (readCount != expected) {
            throw new IllegalStateException(readCount + " records arrived instead of " + expected);
        }
        int measuredCount = readCount - warmUpCount;
        double cpuMicros = (process.getProcessCpuTime() - cpuStartNanos) / 1e3 / measuredCount;
        return new Rate(measuredCount / ((lastReadNanos - startNanos) / 1e9), cpuMicros);
    }

    /** Counts the records without the markers, which the topology writes at times of its own. */
    private static int rowCount(ConsumerRecords<byte[], byte[]> records) {
        int rowCount = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.value() != null) {
                rowCount++;
            }
        }
        return rowCount;
    }

    @Override
    public void close() {
        consumer.close();
    }
}
