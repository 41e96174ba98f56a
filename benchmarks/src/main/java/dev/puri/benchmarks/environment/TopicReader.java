package dev.puri.benchmarks.environment;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** Reads a topic as a resolver would, committed records only, and measures the rate at which they arrive. */
public final class TopicReader implements AutoCloseable {
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(100);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final OperatingSystemMXBean process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    /**
     * A measured rate.
     *
     * @param perSecond records
     * @param cpuMicros processor time of this whole process for each record, broker and reader included; other
     *     processes lower the rate, but hardly raise this
     */
    public record Rate(double perSecond, double cpuMicros) {}

    /** Reads the topic from its beginning. */
    public TopicReader(FreshBroker broker, String topic) {
        consumer = broker.consumer(topic);
    }

    /**
     * Reads records, and measures the rate from the first tenth to the last record. The start of the writer does not
     * count; its end, when partitions run dry, does.
     *
     * @param isAlive whether the writer still runs
     * @throws IllegalStateException if records stop arriving, or more arrive than expected
     */
    public Rate read(int expected, BooleanSupplier isAlive) {
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
            } else if (!isAlive.getAsBoolean() || now - last > LONGEST_PAUSE.toNanos()) {
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
        return new Rate(counted / ((last - begun) / 1e9), cpuMicros);
    }

    @Override
    public void close() {
        consumer.close();
    }
}
