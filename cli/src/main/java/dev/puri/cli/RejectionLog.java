package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads {@code puri.rejections.v1}. Skips unreadable records. Not thread-safe. */
final class RejectionLog implements AutoCloseable {
    /** Growth factor of the range that {@link #latest} reads in each pass. */
    private static final int GROWTH = 16;

    /** Maximum number of unreadable records whose positions are reported. */
    private static final int MAX_REPORTED = 10;

    private final LogReader reader;
    private final SchemaRegistry schemas;
    private final Consumer<String> warnings;
    private final AvroValueDecoder<Rejection> decoder;

    /** Counted in the last pass. */
    private long unreadable;

    private final List<String> firstUnreadable = new ArrayList<>();

    /**
     * @param reader remains open when this object is closed
     * @param schemas closed by {@link #close}
     * @param warnings receives a message about the unreadable records, if there are any, from {@link #close}
     */
    RejectionLog(LogReader reader, SchemaRegistry schemas, Consumer<String> warnings) {
        this.reader = reader;
        this.schemas = schemas;
        this.warnings = warnings;
        this.decoder = new AvroValueDecoder<>(Rejection.class, schemas);
    }

    /** Opens the log with the schema registry of the settings. */
    static RejectionLog open(LogReader reader, CliSettings settings, Consumer<String> warnings) {
        return new RejectionLog(reader, ConfluentSchemaRegistry.create(settings.interactiveProperties()), warnings);
    }

    /** Returns all rejections that match, except those of identities that were erased later; the oldest first. */
    LatestRejections all(Predicate<Rejection> filter) {
        LatestRejections rejections = new LatestRejections(filter, Integer.MAX_VALUE);
        read(rejections, reader.beginningOffsets(partitions()));
        return rejections;
    }

    /**
     * Returns the latest rejections that match, as many as requested. With a filter, reads the whole topic. Without
     * one, reads the last records, and reads again from lower offsets until they contain enough rejections and, in each
     * partition, all records since the oldest of these: a partition that ends with erasures may have later rejections
     * before them, and the erasure of a survivor is in another partition than the rejection that names it.
     *
     * @param count the maximum number of rejections
     */
    LatestRejections latest(RejectionFilter filter, int count) {
        List<TopicPartition> partitions = partitions();
        Map<TopicPartition, Long> beginningOffsets = reader.beginningOffsets(partitions);
        LatestRejections rejections = new LatestRejections(filter::matches, count);
        Map<TopicPartition, Long> endOffsets = reader.endOffsets(partitions);
        long recordsPerPartition = 2L * count;
        Duration margin = LogReader.CLOCK_TOLERANCE;
        Map<TopicPartition, Long> startOffsets = filter.isEmpty()
                ? lastOffsets(beginningOffsets, endOffsets, recordsPerPartition)
                : new HashMap<>(beginningOffsets);
        while (true) {
            read(rejections, startOffsets);
            List<StoredRejection> latest = rejections.get();
            boolean isLower;
            if (latest.size() < count) {
                recordsPerPartition *= GROWTH;
                isLower = lower(startOffsets, lastOffsets(beginningOffsets, endOffsets, recordsPerPartition));
            } else {
                Instant oldest = latest.getFirst().rejection().getRejectedAt();
                isLower = lower(startOffsets, offsetsAt(partitions, oldest.minus(LogReader.CLOCK_TOLERANCE)));
                if (isLower) {
                    lower(startOffsets, offsetsAt(partitions, oldest.minus(margin)));
                    // Grows, because each erasure that is read may make an older rejection the oldest one.
                    margin = margin.multipliedBy(GROWTH);
                }
            }
            if (!isLower && !rejections.needsAnotherPass()) {
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
        partitions.forEach(partition -> times.put(partition, time.toEpochMilli()));
        return reader.offsetsAt(times);
    }

    /** Lowers offsets to the required ones. Returns whether one of them was higher. */
    private static boolean lower(Map<TopicPartition, Long> offsets, Map<TopicPartition, Long> requiredOffsets) {
        Map<TopicPartition, Long> before = Map.copyOf(offsets);
        requiredOffsets.forEach((partition, offset) -> offsets.merge(partition, offset, Math::min));
        return !offsets.equals(before);
    }

    private void read(LatestRejections rejections, Map<TopicPartition, Long> startOffsets) {
        rejections.restart();
        unreadable = 0;
        firstUnreadable.clear();
        reader.read(startOffsets, record -> {
            if (record.value() == null) {
                rejections.add(record, null);
                return;
            }
            try {
                rejections.add(record, decoder.read(record.value()));
            } catch (UnreadableException e) {
                unreadable++;
                if (unreadable <= MAX_REPORTED) {
                    firstUnreadable.add("\n  " + record.topic() + "-" + record.partition() + "@" + record.offset()
                            + ": " + e.getMessage());
                }
            }
        });
    }

    /**
     * Returns the first 64 KiB of a refused event, which its rejection contains; null if the rejection was deleted
     * meanwhile.
     */
    @Nullable
    ByteBuffer original(StoredRejection stored) {
        Map<Long, ByteBuffer> originals = new HashMap<>();
        reader.find(Map.of(stored.partition(), new TreeSet<>(Set.of(stored.offset()))), record -> {
            try {
                originals.put(record.offset(), decoder.read(record.value()).getOriginal());
            } catch (UnreadableException e) {
                // The topic was created again meanwhile, so it has another record at this offset.
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
        if (unreadable > 0) {
            warnings.accept("puri: warning: number of unreadable records of " + Topics.REJECTIONS
                    + ", which are skipped: " + unreadable + String.join("", firstUnreadable)
                    + (unreadable > MAX_REPORTED ? "\n  and " + (unreadable - MAX_REPORTED) + " more" : ""));
        }
        schemas.close();
    }
}
