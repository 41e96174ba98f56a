package dev.puri.cli;

import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroDeserializer;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads {@code puri.rejections.v1}. Not thread-safe. */
final class RejectionLog implements AutoCloseable {
    private final LogReader reader;
    private final AvroDeserializer deserializer = new AvroDeserializer();

    /**
     * @param reader remains open when this object is closed
     */
    RejectionLog(LogReader reader, CliSettings settings) {
        this.reader = reader;
        Map<String, Object> properties = settings.interactiveProperties();
        properties.put("specific.avro.reader", "true");
        deserializer.configure(properties, false);
    }

    /** Returns all rejections that match, except those of identities that were erased later; the oldest first. */
    LatestRejections all(Predicate<Rejection> filter) {
        return read(filter, reader.beginningOffsets(partitions()));
    }

    /**
     * Reads the last records of the topic. If they contain too few rejections, reads again and begins at lower offsets. With
     * a filter, reads the whole topic at once.
     *
     * @param count the number of rejections after which reading may end
     */
    LatestRejections latest(RejectionFilter filter, int count) {
        List<TopicPartition> partitions = partitions();
        Map<TopicPartition, Long> beginningOffsets = reader.beginningOffsets(partitions);
        Map<TopicPartition, Long> endOffsets = reader.endOffsets(partitions);
        for (long recordsPerPartition = filter.isEmpty() ? 2L * count : Long.MAX_VALUE; ; recordsPerPartition *= 16) {
            Map<TopicPartition, Long> startOffsets = new HashMap<>();
            for (TopicPartition partition : partitions) {
                startOffsets.put(
                        partition,
                        Math.max(
                                beginningOffsets.getOrDefault(partition, 0L),
                                endOffsets.getOrDefault(partition, 0L) - recordsPerPartition));
            }
            LatestRejections rejections = read(filter::matches, startOffsets);
            if (rejections.get(count).size() == count || startOffsets.equals(beginningOffsets)) {
                return rejections;
            }
        }
    }

    private LatestRejections read(Predicate<Rejection> filter, Map<TopicPartition, Long> startOffsets) {
        LatestRejections rejections = new LatestRejections(filter);
        reader.read(
                startOffsets,
                record -> rejections.add(record, deserializer.deserialize(record.topic(), record.value())));
        return rejections;
    }

    /**
     * Returns the first 64 KiB of a refused event, which its rejection contains; null if the rejection was deleted
     * meanwhile.
     */
    @Nullable
    ByteBuffer original(StoredRejection stored) {
        Map<Long, ByteBuffer> originals = new HashMap<>();
        reader.find(Map.of(stored.partition(), new TreeSet<>(Set.of(stored.offset()))), record -> {
            if (deserializer.deserialize(record.topic(), record.value()) instanceof Rejection rejection) {
                originals.put(record.offset(), rejection.getOriginal());
            }
        });
        return originals.get(stored.offset());
    }

    private List<TopicPartition> partitions() {
        List<TopicPartition> partitions = reader.partitions(Topics.REJECTIONS);
        if (partitions.isEmpty()) {
            throw CommandException.failed(
                    "the topic " + Topics.REJECTIONS + " does not exist; create it with: puri topics create", null);
        }
        return partitions;
    }

    @Override
    public void close() {
        deserializer.close();
    }
}
