package dev.puri.schemas.log;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import org.jspecify.annotations.Nullable;

/**
 * The reason why an event was refused, with details.
 *
 * @param detail an explanation for people; truncated to {@value #MAX_DETAIL_LENGTH} characters
 * @param holder the holder of the pURI or handle that the event claims; null if there is none
 * @param survivor the identity into which the holder, or the event's identity, was merged; null if it was not merged
 */
public record Refusal(
        Reason reason,
        String detail,
        @Nullable Holder holder,
        @Nullable Puri survivor) {
    public static final int MAX_DETAIL_LENGTH = 1000;

    /** Owner and shard of the identity that holds the pURI or handle. */
    public record Holder(Owner owner, Shard shard) {}

    public Refusal {
        if (detail.length() > MAX_DETAIL_LENGTH) {
            detail = detail.substring(0, MAX_DETAIL_LENGTH - 1) + "…";
        }
    }

    /** Returns a refusal without holder and survivor. */
    public static Refusal of(Reason reason, String detail) {
        return new Refusal(reason, detail, null, null);
    }
}
