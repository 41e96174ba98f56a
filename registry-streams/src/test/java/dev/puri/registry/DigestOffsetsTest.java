package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.DigestAtOffset;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.junit.jupiter.api.Test;

class DigestOffsetsTest {
    private static final TopicPartition IDENTITIES = new TopicPartition(Topics.IDENTITIES, 2);
    private static final TopicPartition DOCUMENTS = new TopicPartition(Topics.DOCUMENTS, 2);
    private static final PartitionDigest ONE = new PartitionDigest(1, 0xab);
    private static final PartitionDigest TWO = new PartitionDigest(2, 0xcd);

    private final Map<TopicPartition, DigestAtOffset> published = new HashMap<>();
    private final DigestOffsets offsets = new DigestOffsets(published::put);
    private final List<Long> acknowledged = new ArrayList<>();

    private static ProducerRecord<byte[], byte[]> tombstone(TopicPartition partition, PartitionDigest digest) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(partition.topic(), partition.partition(), new byte[] {1}, null);
        record.headers().add(digest.toHeader());
        return record;
    }

    private Callback callback(ProducerRecord<byte[], byte[]> record) {
        Callback callback = offsets.callback(record, (metadata, failure) -> acknowledged.add(metadata.offset()));
        return Objects.requireNonNull(callback);
    }

    private static RecordMetadata at(TopicPartition partition, long offset) {
        return new RecordMetadata(partition, offset, 0, 0, 1, -1);
    }

    @Test
    void aCommitPublishesTheLastDigestOfEachPartition() {
        callback(tombstone(IDENTITIES, ONE)).onCompletion(at(IDENTITIES, 7), null);
        callback(tombstone(DOCUMENTS, ONE)).onCompletion(at(DOCUMENTS, 5), null);
        callback(tombstone(IDENTITIES, TWO)).onCompletion(at(IDENTITIES, 9), null);
        assertThat(published).isEmpty();

        offsets.onCommitted();

        assertThat(published)
                .isEqualTo(Map.of(IDENTITIES, new DigestAtOffset(9, TWO), DOCUMENTS, new DigestAtOffset(5, ONE)));
        assertThat(acknowledged).containsExactly(7L, 5L, 9L);
    }

    @Test
    void aDigestOfAnAbortedTransactionIsNotPublished() {
        callback(tombstone(IDENTITIES, ONE)).onCompletion(at(IDENTITIES, 7), null);
        offsets.onAborted();
        callback(tombstone(DOCUMENTS, ONE)).onCompletion(at(DOCUMENTS, -1), new TransactionAbortedException());

        offsets.onCommitted();

        assertThat(published).isEmpty();
        assertThat(acknowledged).containsExactly(7L, -1L);
    }

    @Test
    void otherRecordsKeepTheirCallback() {
        Callback callback = (metadata, failure) -> {};
        ProducerRecord<byte[], byte[]> erased = new ProducerRecord<>(Topics.IDENTITIES, 2, new byte[] {1}, null);
        ProducerRecord<byte[], byte[]> ofAService = new ProducerRecord<>("intake", 2, new byte[] {1}, null);
        ofAService.headers().add(PartitionDigest.HEADER, "rubbish".getBytes());

        assertThat(offsets.callback(erased, callback)).isSameAs(callback);
        assertThat(offsets.callback(ofAService, callback)).isSameAs(callback);
        assertThat(offsets.callback(erased, null)).isNull();
        Objects.requireNonNull(offsets.callback(tombstone(IDENTITIES, ONE), null))
                .onCompletion(at(IDENTITIES, 7), null);
        offsets.onCommitted();
        assertThat(published).containsOnlyKeys(IDENTITIES);
    }
}
