package dev.puri.cli;

import dev.puri.projection.RecordKey;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Erasure;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Collects the latest rejections from the records of their topic, except rejections of identities that were erased
 * later. Several passes over the records may be needed: an erasure may follow the rejections that displaced earlier
 * ones.
 */
final class LatestRejections {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final Predicate<Rejection> filter;
    private final int maxCount;

    /** The oldest first. */
    private final NavigableSet<StoredRejection> rejections = new TreeSet<>(
            Comparator.comparing((StoredRejection stored) -> stored.rejection().getRejectedAt())
                    .thenComparing(stored -> stored.partition().partition())
                    .thenComparing(StoredRejection::offset));

    private boolean hasDropped;

    /** The time of the last erasure, by pURI. */
    private final Map<String, Instant> erasedAt = new HashMap<>();

    /**
     * @param filter selects the rejections that are collected
     * @param maxCount the maximum number of rejections
     */
    LatestRejections(Predicate<Rejection> filter, int maxCount) {
        this.filter = filter;
        this.maxCount = maxCount;
    }

    /** Begins another pass over the records: forgets the rejections, but not the erasures. */
    void restart() {
        rejections.clear();
        hasDropped = false;
    }

    /**
     * Adds a record of the topic.
     *
     * @param rejection the decoded value; null for a tombstone
     */
    void add(ConsumerRecord<byte[], byte[]> record, @Nullable Rejection rejection) {
        if (rejection != null) {
            if (filter.test(rejection) && !isErasedLater(rejection)) {
                // Drops the copy of the refused event, up to 64 KiB, to save memory.
                rejection.setOriginal(EMPTY);
                rejections.add(new StoredRejection(
                        rejection, new TopicPartition(record.topic(), record.partition()), record.offset()));
                if (rejections.size() > maxCount) {
                    rejections.pollFirst();
                    hasDropped = true;
                }
            }
        } else {
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

    /** Returns the latest rejections, the oldest of them first. */
    List<StoredRejection> get() {
        return rejections.stream()
                .filter(stored -> !isErasedLater(stored.rejection()))
                .toList();
    }

    /** Whether rejections are missing that another pass over the same records would collect. */
    boolean needsAnotherPass() {
        return hasDropped && get().size() < maxCount;
    }

    private boolean isErasedLater(Rejection rejection) {
        return isErasedLater(rejection.getPuri(), rejection) || isErasedLater(rejection.getSurvivor(), rejection);
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
