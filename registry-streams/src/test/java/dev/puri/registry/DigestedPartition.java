package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads a partition of identities or documents like a server: keeps the last record of each key, and compares the sum
 * of their hashes with each digest.
 */
final class DigestedPartition {
    private final RecordReader<IdentityRow> rows = RecordReader.of(IdentityRow.class);
    private final RecordReader<dev.puri.schemas.avro.Document> documents =
            RecordReader.of(dev.puri.schemas.avro.Document.class);
    private final String topic;
    private final Map<Puri, Long> hashes = new HashMap<>();
    private @Nullable PartitionDigest last;
    private int digests;

    DigestedPartition(String topic) {
        this.topic = topic;
    }

    /** Whether a record of identities or documents is a digest, which answers no event. */
    static boolean isDigest(Headers headers) {
        return PartitionDigest.of(headers) != null;
    }

    /** @throws AssertionError if the record is a digest that differs from the records before it */
    void read(byte[] key, byte @Nullable [] value, Headers headers) {
        PartitionDigest digest = PartitionDigest.of(headers);
        Puri puri = EventParser.canonicalKey(key);
        if (digest != null) {
            assertThat(Topics.isMarker(puri)).as("key of the digest: " + puri).isTrue();
            assertThat(value).isNull();
            assertThat(digest).as("digest %d of %s", digests, topic).isEqualTo(sum());
            last = digest;
            digests++;
        } else if (value == null) {
            hashes.remove(puri);
        } else {
            hashes.put(puri, hash(puri, value));
        }
    }

    private long hash(Puri puri, byte[] value) {
        return topic.equals(Topics.IDENTITIES)
                ? RowHash.of(puri, RowAvro.fromAvro(rows.decode(value, IdentityRow.getClassSchema())))
                : RowHash.of(
                        puri,
                        DocumentAvro.fromAvro(
                                documents.decode(value, dev.puri.schemas.avro.Document.getClassSchema())));
    }

    /** The digest of the last record of each key. */
    PartitionDigest sum() {
        return hashes.values().stream().reduce(PartitionDigest.EMPTY, PartitionDigest::plus, PartitionDigest::plus);
    }

    /** The last digest read; null if there was none. */
    @Nullable
    PartitionDigest last() {
        return last;
    }

    /** The number of digests read. */
    int digests() {
        return digests;
    }
}
