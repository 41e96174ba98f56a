package dev.puri.tail;

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
 * A refused event, without its bytes.
 *
 * @param position of the event, which is its token
 * @param reason one of {@link dev.puri.schemas.log.Reason}, or a later one that this build does not know
 * @param detail the refusal in words; at most {@value #MAX_DETAIL_LENGTH} characters
 * @param rejectedAt by the registry's clock
 * @param puri null if the event's key was no pURI
 * @param eventId null if the event could not be read
 * @param holder the holder of the name or handle that the event claimed; null if there is none
 * @param survivor the identity into which this one was merged; null if it was not merged
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
    /** A bound, since 100,000 refusals are kept in memory. */
    public static final int MAX_DETAIL_LENGTH = 256;

    public RejectedEvent {
        detail = cut(detail);
    }

    /**
     * @throws IllegalArgumentException when the registry cannot have written it
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

    /** The refusal, as the answer to the event's token; null when this build does not know the reason. */
    @Nullable
    Refusal refusal() {
        for (Reason known : Reason.values()) {
            if (known.name().equals(reason)) {
                return new Refusal(known, detail, holder, survivor);
            }
        }
        return null;
    }

    /** A copy with position and reason alone, which suffices to answer the token and names nobody. */
    RejectedEvent withoutNames() {
        return new RejectedEvent(
                position, reason, "what it named was erased since", rejectedAt, null, null, null, null);
    }

    private static String cut(String detail) {
        if (detail.length() <= MAX_DETAIL_LENGTH) {
            return detail;
        }
        int end = MAX_DETAIL_LENGTH - 1;
        // Do not split a surrogate pair.
        return detail.substring(0, Character.isHighSurrogate(detail.charAt(end - 1)) ? end - 1 : end) + "…";
    }
}
