package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Kafka compacts no segment that it still writes to, and starts a new one only when something is
 * written. In a quiet partition an erased name would so stay in the log for ever. Once a week,
 * therefore, something that means nothing is written to every compacted partition of ours.
 */
final class Marker {
    static final Duration EVERY = Duration.ofDays(7);

    /** When the last one was written; in a store, so that restarts do not put it off. */
    private static final byte[] WRITTEN_AT = {1};

    private Marker() {}

    /** Whether the week is over; the first one begins now. */
    static boolean isDue(KeyValueStore<byte[], byte[]> store, long now) {
        byte[] writtenAt = store.get(WRITTEN_AT);
        if (writtenAt == null) {
            keep(store, now);
            return false;
        }
        return now - ByteBuffer.wrap(writtenAt).getLong() >= EVERY.toMillis();
    }

    static void keep(KeyValueStore<byte[], byte[]> store, long now) {
        store.put(WRITTEN_AT, ByteBuffer.allocate(Long.BYTES).putLong(now).array());
    }

    /** A pURI of that partition under which nothing is ever registered. */
    static Puri puri(int partition, int partitions) {
        int i = 0;
        Puri puri = Puri.parse(Topics.MARKER + 0);
        while (Partitions.of(puri, partitions) != partition) {
            i++;
            puri = Puri.parse(Topics.MARKER + i);
        }
        return puri;
    }
}
