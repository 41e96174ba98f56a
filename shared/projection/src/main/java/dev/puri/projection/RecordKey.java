package dev.puri.projection;

import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Parses record keys of topics whose keys are pURIs. */
public final class RecordKey {
    private RecordKey() {}

    /** Returns the pURI of a record of these topics; null if {@link #puri(byte[], Headers, int, int)} refuses it. */
    public static @Nullable Puri puriOrNull(ConsumerRecord<byte[], byte[]> record, int partitions) {
        try {
            return puri(record.key(), record.headers(), record.partition(), partitions);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

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
     * Parses the key of a record of {@code puri.identities.v1} or {@code puri.documents.v1}. Refuses a misplaced
     * record: one that the registrar did not write, in another partition than that of its key. It has no order with the
     * registrar's records of the pURI. The registrar's records have the header {@value Position#HEADER} and are never
     * misplaced: they are in the partition that their key had when they were written, even if the topic has got more
     * partitions since. Markers are no rows, so their partition does not matter.
     *
     * @param partition the partition of the record
     * @param partitions the number of the topic's partitions
     * @throws IllegalArgumentException if the key is missing, is not a pURI in canonical form, or the record is
     *     misplaced
     */
    public static Puri puri(byte @Nullable [] key, Headers headers, int partition, int partitions) {
        Puri puri = puri(key);
        if (headers.lastHeader(Position.HEADER) == null && !Topics.isMarker(puri)) {
            int partitionOfKey = Tokens.partition(puri, partitions);
            if (partitionOfKey != partition) {
                throw new IllegalArgumentException(
                        "another producer than the registrar wrote this record: the records of " + puri
                                + " are in partition " + partitionOfKey);
            }
        }
        return puri;
    }
}
