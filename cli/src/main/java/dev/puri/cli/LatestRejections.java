package dev.puri.cli;

import dev.puri.projection.RecordKey;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Erasure;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Collects rejections from the records of their topic, except rejections of identities that were erased later. */
final class LatestRejections {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final Predicate<Rejection> filter;
    private final List<StoredRejection> rejections = new ArrayList<>();

    /** The time of the last erasure, by pURI. */
    private final Map<String, Instant> erasedAt = new HashMap<>();

    /**
     * @param filter selects the rejections that are collected
     */
    LatestRejections(Predicate<Rejection> filter) {
        this.filter = filter;
    }

    /**
     * Adds a record of the topic.
     *
     * @param value the decoded value; null for a tombstone
     */
    void add(ConsumerRecord<byte[], byte[]> record, @Nullable Object value) {
        if (value instanceof Rejection rejection) {
            if (filter.test(rejection)) {
                // Drops the copy of the refused event, up to 64 KiB, to save memory.
                rejection.setOriginal(EMPTY);
                rejections.add(new StoredRejection(
                        rejection, new TopicPartition(record.topic(), record.partition()), record.offset()));
            }
        } else if (value == null) {
            addErasure(record);
        }
    }

    private void addErasure(ConsumerRecord<byte[], byte[]> record) {
        try {
            Erasure erasure = Erasure.of(RecordKey.puri(record.key()), record.headers());
            if (erasure.isApplied()) {
                erasedAt.merge(
                        erasure.puri().toString(),
                        erasure.at(),
                        (known, added) -> known.isBefore(added) ? added : known);
            }
        } catch (IllegalArgumentException e) {
            // Ignored, because the registry did not write this record.
        }
    }

    /**
     * Returns the latest rejections, the oldest of them first.
     *
     * @param maxCount the maximum number of rejections
     */
    List<StoredRejection> get(int maxCount) {
        List<StoredRejection> remaining = all();
        return remaining.subList(Math.max(0, remaining.size() - maxCount), remaining.size());
    }

    /** Returns all rejections, the oldest of them first. */
    List<StoredRejection> all() {
        return rejections.stream()
                .filter(stored -> !isErasedLater(stored.rejection().getPuri(), stored.rejection())
                        && !isErasedLater(stored.rejection().getSurvivor(), stored.rejection()))
                .sorted(Comparator.comparing(stored -> stored.rejection().getRejectedAt()))
                .toList();
    }

    /** Whether a pURI was erased after a rejection. */
    boolean isErasedLater(@Nullable String puri, Rejection rejection) {
        return isErasedSince(puri, rejection.getRejectedAt());
    }

    /** Whether a pURI was erased after a time. */
    boolean isErasedSince(@Nullable String puri, Instant time) {
        Instant lastErasedAt = puri == null ? null : erasedAt.get(puri);
        return lastErasedAt != null && time.isBefore(lastErasedAt);
    }
}
