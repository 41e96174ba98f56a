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

/** Refusals as they are read, without those of objects that were erased since. */
final class LatestRejections {
    private static final ByteBuffer NO_BYTES = ByteBuffer.allocate(0);

    private final @Nullable Puri wanted;
    private final List<Rejection> all = new ArrayList<>();
    private final Map<String, Instant> erasedAt = new HashMap<>();

    /**
     * @param wanted of this name alone; null for all
     */
    LatestRejections(@Nullable Puri wanted) {
        this.wanted = wanted;
    }

    void take(ConsumerRecord<byte[], Object> record) {
        if (record.value() instanceof Rejection rejection) {
            if (wanted == null || wanted.toString().equals(rejection.getPuri())) {
                // Up to 64 KiB of the refused event, which nobody asks for here.
                rejection.setOriginal(NO_BYTES);
                all.add(rejection);
            }
        } else if (record.value() == null) {
            takeErasure(record);
        }
    }

    private void takeErasure(ConsumerRecord<byte[], Object> record) {
        try {
            Erasure erasure = Erasure.of(RecordKey.puri(record.key()), record.headers());
            if (erasure.isApplied()) {
                erasedAt.merge(
                        erasure.puri().toString(), erasure.at(), (one, other) -> one.isBefore(other) ? other : one);
            }
        } catch (IllegalArgumentException e) {
            // None of the registry's; it is no refusal either.
        }
    }

    /** The newest of them, the newest last. */
    List<Rejection> get(int count) {
        List<Rejection> kept = all.stream()
                .filter(each -> !isErased(each.getPuri(), each) && !isErased(each.getSurvivor(), each))
                .sorted(Comparator.comparing(Rejection::getRejectedAt))
                .toList();
        return kept.subList(Math.max(0, kept.size() - count), kept.size());
    }

    private boolean isErased(@Nullable String puri, Rejection rejection) {
        Instant at = puri == null ? null : erasedAt.get(puri);
        return at != null && rejection.getRejectedAt().isBefore(at);
    }
}
