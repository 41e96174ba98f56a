package dev.puri.registry;

import dev.puri.projection.DigestAtOffset;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The offsets of the digests that one producer has sent in its current transaction. Kafka Streams does not tell a
 * processor the offsets of its records, but the producer receives them. They are reported after the transaction is
 * committed.
 */
final class DigestOffsets {
    private final BiConsumer<TopicPartition, DigestAtOffset> onPublished;

    /** Written by the thread that receives the brokers' responses, and read after all of them have arrived. */
    private final Map<TopicPartition, DigestAtOffset> uncommitted = new ConcurrentHashMap<>();

    /**
     * @param onPublished receives the last digest of each partition in a committed transaction
     */
    DigestOffsets(BiConsumer<TopicPartition, DigestAtOffset> onPublished) {
        this.onPublished = onPublished;
    }

    /** Returns a callback that also notes the offset of a record, if the record publishes a digest. */
    @Nullable
    Callback callback(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback) {
        PartitionDigest digest = mayHaveDigest(record) ? PartitionDigest.of(record.headers()) : null;
        if (digest == null) {
            return callback;
        }
        return (metadata, failure) -> {
            if (failure == null) {
                uncommitted.put(
                        new TopicPartition(metadata.topic(), metadata.partition()),
                        new DigestAtOffset(metadata.offset(), digest));
            }
            if (callback != null) {
                callback.onCompletion(metadata, failure);
            }
        };
    }

    /** Only the registrar writes to these topics. Records of other topics may have headers of services. */
    private static boolean mayHaveDigest(ProducerRecord<byte[], byte[]> record) {
        return record.value() == null
                && (record.topic().equals(Topics.IDENTITIES) || record.topic().equals(Topics.DOCUMENTS));
    }

    void onCommitted() {
        uncommitted.forEach(onPublished);
        uncommitted.clear();
    }

    void onAborted() {
        uncommitted.clear();
    }
}
