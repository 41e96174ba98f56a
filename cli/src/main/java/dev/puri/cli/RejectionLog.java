package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroDeserializer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
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
    /** Growth factor of the range that {@link #latest} reads in each pass. */
    private static final int GROWTH = 16;

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
     * Returns the latest rejections that match, as many as requested and perhaps earlier ones too. With a filter, reads
     * the whole topic. Without one, reads the last records, and reads again from lower offsets until they contain
     * enough rejections and, in each partition, all records since the oldest of these: a partition that ends with
     * erasures may have later rejections before them, and the erasure of a survivor is in another partition than the
     * rejection that names it.
     *
     * @param count the number of rejections after which reading may end
     */
    LatestRejections latest(RejectionFilter filter, int count) {
        if (!filter.isEmpty()) {
            return all(filter::matches);
        }
        List<TopicPartition> partitions = partitions();
        Map<TopicPartition, Long> beginningOffsets = reader.beginningOffsets(partitions);
        Map<TopicPartition, Long> endOffsets = reader.endOffsets(partitions);
        long recordsPerPartition = 2L * count;
        Duration margin = LogReader.CLOCK_TOLERANCE;
        Map<TopicPartition, Long> startOffsets = lastOffsets(beginningOffsets, endOffsets, recordsPerPartition);
        while (true) {
            LatestRejections rejections = read(filter::matches, startOffsets);
            List<StoredRejection> latest = rejections.get(count);
            Map<TopicPartition, Long> requiredOffsets;
            if (latest.size() < count) {
                recordsPerPartition *= GROWTH;
                requiredOffsets = lastOffsets(beginningOffsets, endOffsets, recordsPerPartition);
            } else {
                requiredOffsets = offsetsAt(
                        partitions,
                        latest.getFirst().rejection().getRejectedAt().minus(margin));
                // Grows, because each erasure that is read may make an older rejection the oldest one.
                margin = margin.multipliedBy(GROWTH);
            }
            if (!lower(startOffsets, requiredOffsets)) {
                return rejections;
            }
        }
    }

    /** Returns the offset of each partition from which it has this number of offsets, or its beginning offset. */
    private static Map<TopicPartition, Long> lastOffsets(
            Map<TopicPartition, Long> beginningOffsets, Map<TopicPartition, Long> endOffsets, long count) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        beginningOffsets.forEach((partition, beginning) ->
                offsets.put(partition, Math.max(beginning, endOffsets.getOrDefault(partition, beginning) - count)));
        return offsets;
    }

    private Map<TopicPartition, Long> offsetsAt(List<TopicPartition> partitions, Instant time) {
        Map<TopicPartition, Long> times = new HashMap<>();
        // Kafka refuses negative times.
        partitions.forEach(partition -> times.put(partition, Math.max(0, time.toEpochMilli())));
        return reader.offsetsAt(times);
    }

    /** Lowers offsets to the required ones. Returns whether one of them was higher. */
    private static boolean lower(Map<TopicPartition, Long> offsets, Map<TopicPartition, Long> requiredOffsets) {
        Map<TopicPartition, Long> before = Map.copyOf(offsets);
        requiredOffsets.forEach((partition, offset) -> offsets.merge(partition, offset, Math::min));
        return !offsets.equals(before);
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
                    "the topic " + Topics.REJECTIONS + " does not exist; create it with: puri topics create");
        }
        return partitions;
    }

    @Override
    public void close() {
        deserializer.close();
    }
}
