package dev.puri.projection;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The metrics {@code puri.digest.offset}, {@code puri.digest.rows} and {@code puri.digest.hash} of a topic, by
 * partition. Servers whose values have the same offset must have the same rows and hash. Thread-safe.
 */
public final class DigestMeters {
    /** A metric is a double, which has 53 bits. */
    private static final long HASH_MASK = 0xffff_ffffL;

    private final String topic;
    private final IntFunction<@Nullable DigestAtOffset> digestOf;
    private final MeterRegistry meters;
    private int registered;

    /**
     * @param digestOf returns the last digest of a partition that the server published or compared; null if there is
     *     none
     */
    public DigestMeters(String topic, IntFunction<@Nullable DigestAtOffset> digestOf, MeterRegistry meters) {
        this.topic = topic;
        this.digestOf = digestOf;
        this.meters = meters;
    }

    /**
     * Registers the metrics of the partitions that have none yet. They are NaN while the server has no digest.
     *
     * @param partitions the number of partitions of the topic
     */
    public synchronized void register(int partitions) {
        for (; registered < partitions; registered++) {
            register(
                    registered,
                    "puri.digest.offset",
                    "Offset of the last digest that was published or compared",
                    digest -> (double) digest.offset());
            register(registered, "puri.digest.rows", "Rows of the partition at puri_digest_offset", digest ->
                    (double) digest.digest().rows());
            register(
                    registered,
                    "puri.digest.hash",
                    "The low 32 bits of the sum of the hashes of the rows at puri_digest_offset",
                    digest -> (double) (digest.digest().sum() & HASH_MASK));
        }
    }

    private void register(int partition, String name, String description, ToDoubleFunction<DigestAtOffset> value) {
        Gauge.builder(name, () -> {
                    DigestAtOffset digest = digestOf.apply(partition);
                    return digest == null ? Double.NaN : value.applyAsDouble(digest);
                })
                .description(description)
                .tag("topic", topic)
                .tag("partition", Integer.toString(partition))
                .strongReference(true)
                .register(meters);
    }
}
