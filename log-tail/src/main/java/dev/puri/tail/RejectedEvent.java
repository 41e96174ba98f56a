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
 * An event that was refused, as far as it is remembered: not its bytes.
 *
 * @param position of the event, which is its token
 * @param reason one of {@link dev.puri.schemas.log.Reason}, or one that this program does not know
 * @param detail what, where and why, for a person; at most {@value #MAX_DETAIL_LENGTH} characters
 * @param rejectedAt by the registry's clock
 * @param puri null where the event's key was no pURI
 * @param eventId null where the event could not be read
 * @param holder who holds what was asked for; null where nobody does
 * @param survivor what a merged identity goes on as; null where it is not merged
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
    /** A hundred thousand of them are kept in memory. */
    public static final int MAX_DETAIL_LENGTH = 256;

    public RejectedEvent {
        detail = cut(detail);
    }

    /**
     * @throws IllegalArgumentException when it is no rejection that the registry wrote
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

    /** For whoever asked for the event's token; null when this program does not know the reason. */
    @Nullable
    Refusal refusal() {
        for (Reason known : Reason.values()) {
            if (known.name().equals(reason)) {
                return new Refusal(known, detail, holder, survivor);
            }
        }
        return null;
    }

    /** The same without everything that names somebody or something: a token is answered by its position and reason alone. */
    RejectedEvent withoutNames() {
        return new RejectedEvent(position, reason, "what it named was erased since", rejectedAt, null, null, null, null);
    }

    private static String cut(String detail) {
        if (detail.length() <= MAX_DETAIL_LENGTH) {
            return detail;
        }
        int end = MAX_DETAIL_LENGTH - 1;
        // Not in the middle of a character.
        return detail.substring(0, Character.isHighSurrogate(detail.charAt(end - 1)) ? end - 1 : end) + "…";
    }
}
