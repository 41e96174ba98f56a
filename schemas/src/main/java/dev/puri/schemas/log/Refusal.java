package dev.puri.schemas.log;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import org.jspecify.annotations.Nullable;

/**
 * Why an event was refused.
 *
 * @param detail an explanation for people; truncated to {@value #MAX_DETAIL_LENGTH} characters
 * @param holder the holder of the requested name; null if there is none
 * @param survivor the survivor of a merged identity; null if it is not merged
 */
public record Refusal(
        Reason reason,
        String detail,
        @Nullable Holder holder,
        @Nullable Puri survivor) {
    public static final int MAX_DETAIL_LENGTH = 1000;

    /** Owner and shard of the identity that holds the name. */
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
