package dev.puri.cli;

import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Erasure;
import dev.puri.tail.RecordKey;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** Collects rejections from the records of their topic, except rejections of identities that were erased later. */
final class LatestRejections {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final @Nullable Puri puri;
    private final List<Rejection> rejections = new ArrayList<>();

    /** The time of the last erasure, by pURI. */
    private final Map<String, Instant> erasedAt = new HashMap<>();

    /**
     * @param puri the pURI whose rejections are collected; null for all
     */
    LatestRejections(@Nullable Puri puri) {
        this.puri = puri;
    }

    /** Adds a record of the topic. */
    void add(ConsumerRecord<byte[], Object> record) {
        if (record.value() instanceof Rejection rejection) {
            if (puri == null || puri.toString().equals(rejection.getPuri())) {
                // Drops the copy of the refused event, up to 64 KiB, because it is not printed.
                rejection.setOriginal(EMPTY);
                rejections.add(rejection);
            }
        } else if (record.value() == null) {
            addErasure(record);
        }
    }

    private void addErasure(ConsumerRecord<byte[], Object> record) {
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
    List<Rejection> get(int maxCount) {
        List<Rejection> remaining = rejections.stream()
                .filter(rejection -> !isErasedLater(rejection.getPuri(), rejection)
                        && !isErasedLater(rejection.getSurvivor(), rejection))
                .sorted(Comparator.comparing(Rejection::getRejectedAt))
                .toList();
        return remaining.subList(Math.max(0, remaining.size() - maxCount), remaining.size());
    }

    /** Whether a pURI was erased after a rejection. */
    private boolean isErasedLater(@Nullable String puri, Rejection rejection) {
        Instant lastErasedAt = puri == null ? null : erasedAt.get(puri);
        return lastErasedAt != null && rejection.getRejectedAt().isBefore(lastErasedAt);
    }
}
