package dev.puri.cli;

import dev.puri.cli.files.Digests;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads the events topics by position. Not thread-safe. */
final class EventLog {
    private final LogReader reader;

    /**
     * @param reader remains open
     */
    EventLog(LogReader reader) {
        this.reader = reader;
    }

    /** Returns the records at the positions. A record is missing if it was deleted, or its topic was. */
    Map<Position, ConsumerRecord<byte[], byte[]>> find(Collection<Position> positions) {
        Map<TopicPartition, TreeSet<Long>> offsets = new HashMap<>();
        for (Position position : positions) {
            offsets.computeIfAbsent(partitionOf(position), none -> new TreeSet<>())
                    .add(position.offset());
        }
        Map<Position, ConsumerRecord<byte[], byte[]>> records = new HashMap<>();
        reader.find(offsets, record -> records.put(positionOf(record), record));
        return records;
    }

    static Position positionOf(ConsumerRecord<?, ?> record) {
        return new Position(record.topic(), record.partition(), record.offset());
    }

    static TopicPartition partitionOf(Position position) {
        return new TopicPartition(position.topic(), position.partition());
    }

    /**
     * Whether a record has the value of the refused event. The topic may have been deleted and created again, so that
     * the position has another event.
     */
    static boolean isOriginal(ConsumerRecord<?, byte[]> record, Rejection rejection) {
        byte[] value = record.value();
        long length = value == null ? -1 : value.length;
        return length == rejection.getLength() && sha256(value).equals(rejection.getSha256());
    }

    /** Returns the SHA-256 of a value as a rejection has it: of no bytes if the value is null. */
    static ByteBuffer sha256(byte @Nullable [] value) {
        return ByteBuffer.wrap(Digests.sha256().digest(value == null ? new byte[0] : value));
    }
}
