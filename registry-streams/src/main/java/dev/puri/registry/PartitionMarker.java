package dev.puri.registry;

import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Decides when to write the weekly marker record to the partitions of changelogs. The marker has no meaning, but lets
 * Kafka compact: Kafka never compacts the active segment, and starts a new segment only when a record is written.
 * Without markers an erased name would stay for ever in a partition that gets no other records. In the topics of
 * identities and documents, digests have the key of the marker and the same effect.
 */
final class PartitionMarker {
    static final Duration INTERVAL = Duration.ofDays(7);

    /** Store key of the time of the last marker. The time is stored, so a restart does not delay the next marker. */
    private static final byte[] WRITTEN_AT_KEY = {1};

    private PartitionMarker() {}

    /** Writes a marker to the changelog of the store if the last marker is a week old. */
    static void writeIfDue(KeyValueStore<byte[], byte[]> store, long now) {
        if (isDue(store, now)) {
            setWrittenAt(store, now);
        }
    }

    /** Whether the last marker is a week old. The first call starts the first week. */
    static boolean isDue(KeyValueStore<byte[], byte[]> store, long now) {
        byte[] writtenAt = store.get(WRITTEN_AT_KEY);
        if (writtenAt == null) {
            setWrittenAt(store, now);
            return false;
        }
        return now - ByteBuffer.wrap(writtenAt).getLong() >= INTERVAL.toMillis();
    }

    /** Stores the time of the last marker. In a store with a changelog this write is itself a marker. */
    static void setWrittenAt(KeyValueStore<byte[], byte[]> store, long now) {
        store.put(WRITTEN_AT_KEY, ByteBuffer.allocate(Long.BYTES).putLong(now).array());
    }

    /** Returns the first reserved pURI that belongs to the partition. */
    static Puri puri(int partition, int partitions) {
        for (int number = 0; ; number++) {
            Puri puri = Puri.parse(Topics.MARKER + number);
            if (Tokens.partition(puri, partitions) == partition) {
                return puri;
            }
        }
    }
}
