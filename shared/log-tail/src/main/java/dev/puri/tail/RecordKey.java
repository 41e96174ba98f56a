package dev.puri.tail;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Parses record keys of topics whose keys are pURIs, and computes their partitions. */
public final class RecordKey {
    private RecordKey() {}

    /**
     * Parses a key.
     *
     * @throws IllegalArgumentException if the key is missing or is not a pURI in canonical form
     */
    public static Puri puri(byte @Nullable [] key) {
        if (key == null) {
            throw new IllegalArgumentException("the record has no key");
        }
        String text = new String(key, StandardCharsets.UTF_8);
        Puri puri = Puri.parse(text);
        if (!puri.toString().equals(text)) {
            throw new IllegalArgumentException("the key is not in canonical form, which is " + puri);
        }
        return puri;
    }

    /**
     * Returns the partition of a key. Publishers, the registry's producer and Kafka's default partitioner choose the
     * same one.
     *
     * @param partitions the number of the topic's partitions
     */
    public static int partition(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }

    /**
     * Parses the key of a record that the registrar writes. The registrar writes all records of a pURI to the partition
     * of its key. A record in another partition is of a foreign producer, and has no order with the registrar's.
     *
     * @param partition the partition of the record
     * @param partitions the number of the topic's partitions
     * @throws IllegalArgumentException if the key is missing, is not a pURI in canonical form or belongs to another
     *     partition. Markers belong to each partition
     */
    public static Puri puri(byte @Nullable [] key, int partition, int partitions) {
        Puri puri = puri(key);
        if (key != null && partition(key, partitions) != partition && !Topics.isMarker(puri)) {
            throw new IllegalArgumentException("the records of " + puri + " are in partition "
                    + partition(key, partitions) + ", so another producer than the registrar wrote this one");
        }
        return puri;
    }
}
