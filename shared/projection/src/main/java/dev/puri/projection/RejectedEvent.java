package dev.puri.projection;

import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Refusal.Holder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A refused event and the reason of the refusal, without the bytes of the event.
 *
 * @param position the position of the event; its text is the event's token
 * @param reason one of {@link dev.puri.schemas.log.Reason}, or a later one that this build does not know
 * @param detail the refusal in words; at most {@value #MAX_DETAIL_LENGTH} characters
 * @param rejectedAt the time of the refusal by the registry's clock
 * @param puri null if the event's key was not a pURI
 * @param eventId null if the event could not be read
 * @param holder the holder of the name or handle that the event claimed; null if there is none
 * @param survivor the identity into which the identity of this pURI was merged; null if it was not merged
 */
public record RejectedEvent(
        Position position,
        String reason,
        String detail,
        Instant rejectedAt,
        @Nullable Puri puri,
        @Nullable String eventId,
        @Nullable Holder holder,
        @Nullable Puri survivor) {
    /** Limits the length, since 100,000 refusals are kept in memory. */
    public static final int MAX_DETAIL_LENGTH = 256;

    public RejectedEvent {
        detail = cut(detail);
    }

    /**
     * Converts a record of {@code puri.rejections.v1}.
     *
     * @throws IllegalArgumentException if the record is malformed
     */
    static RejectedEvent of(Rejection avro) {
        return new RejectedEvent(
                new Position(
                        avro.getPosition().getTopic().intern(),
                        avro.getPosition().getPartition(),
                        avro.getPosition().getOffset()),
                avro.getReason().intern(),
                avro.getDetail(),
                avro.getRejectedAt(),
                avro.getPuri() == null ? null : Puri.parse(avro.getPuri()),
                avro.getEventId(),
                avro.getHolderOwner() == null || avro.getHolderShard() == null
                        ? null
                        : new Holder(
                                new Owner(avro.getHolderOwner().intern()),
                                new Shard(avro.getHolderShard().intern())),
                avro.getSurvivor() == null ? null : Puri.parse(avro.getSurvivor()));
    }

    /** Returns the refusal as requests with the event's token get it; null if this build does not know the reason. */
    @Nullable
    Refusal refusal() {
        for (Reason known : Reason.values()) {
            if (known.name().equals(reason)) {
                return new Refusal(known, detail, holder, survivor);
            }
        }
        return null;
    }

    /** Returns a copy with only position, reason and time. It answers requests with the token and contains no names. */
    RejectedEvent withoutNames() {
        String newDetail = "an object that the event named has been erased since";
        return new RejectedEvent(position, reason, newDetail, rejectedAt, null, null, null, null);
    }

    private static String cut(String detail) {
        if (detail.length() <= MAX_DETAIL_LENGTH) {
            return detail;
        }
        int end = MAX_DETAIL_LENGTH - 1;
        // Does not split a surrogate pair.
        return detail.substring(0, Character.isHighSurrogate(detail.charAt(end - 1)) ? end - 1 : end) + "…";
    }
}
