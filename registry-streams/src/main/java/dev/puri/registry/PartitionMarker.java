package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * A weekly record without meaning in every compacted partition of the registry. Kafka does not compact the active
 * segment and starts a new segment only at a write, so in a partition without writes an erased name would stay in the
 * log for ever.
 */
final class PartitionMarker {
    static final Duration INTERVAL = Duration.ofDays(7);

    /** Store key of the time of the last marker; stored, so that a restart does not delay the next one. */
    private static final byte[] WRITTEN_AT = {1};

    private PartitionMarker() {}

    /** Whether the last marker is a week old. The first call starts the first week. */
    static boolean isDue(KeyValueStore<byte[], byte[]> store, long now) {
        byte[] writtenAt = store.get(WRITTEN_AT);
        if (writtenAt == null) {
            recordWritten(store, now);
            return false;
        }
        return now - ByteBuffer.wrap(writtenAt).getLong() >= INTERVAL.toMillis();
    }

    static void recordWritten(KeyValueStore<byte[], byte[]> store, long now) {
        store.put(WRITTEN_AT, ByteBuffer.allocate(Long.BYTES).putLong(now).array());
    }

    /** Returns a reserved pURI that belongs to the partition. */
    static Puri puri(int partition, int partitions) {
        int i = 0;
        Puri puri = Puri.parse(Topics.MARKER + 0);
        while (PuriPartitioner.partition(puri, partitions) != partition) {
            i++;
            puri = Puri.parse(Topics.MARKER + i);
        }
        return puri;
    }
}
