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

/** Collects rejections from the topic, without those of identities that were erased later. */
final class LatestRejections {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final @Nullable Puri puri;
    private final List<Rejection> all = new ArrayList<>();
    private final Map<String, Instant> erasedAt = new HashMap<>();

    /**
     * @param puri collects only rejections of this pURI; null for all
     */
    LatestRejections(@Nullable Puri puri) {
        this.puri = puri;
    }

    void add(ConsumerRecord<byte[], Object> record) {
        if (record.value() instanceof Rejection rejection) {
            if (puri == null || puri.toString().equals(rejection.getPuri())) {
                // Drops up to 64 KiB of the refused event, which is not printed.
                rejection.setOriginal(EMPTY);
                all.add(rejection);
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
                        erasure.puri().toString(), erasure.at(), (one, other) -> one.isBefore(other) ? other : one);
            }
        } catch (IllegalArgumentException e) {
            // The registry did not write the record.
        }
    }

    /** Returns the newest rejections, oldest first. */
    List<Rejection> get(int count) {
        List<Rejection> remaining = all.stream()
                .filter(each -> !isErased(each.getPuri(), each) && !isErased(each.getSurvivor(), each))
                .sorted(Comparator.comparing(Rejection::getRejectedAt))
                .toList();
        return remaining.subList(Math.max(0, remaining.size() - count), remaining.size());
    }

    private boolean isErased(@Nullable String puri, Rejection rejection) {
        Instant at = puri == null ? null : erasedAt.get(puri);
        return at != null && rejection.getRejectedAt().isBefore(at);
    }
}
