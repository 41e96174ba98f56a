package dev.puri.schemas.log;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import org.jspecify.annotations.Nullable;

/**
 * That an event was refused, and why.
 *
 * @param detail what, where and why, for a person; at most {@value #MAX_DETAIL_LENGTH} characters,
 *     longer ones are cut
 * @param holder who holds what was asked for; null where nobody does
 * @param survivor what a merged identity goes on as; null where it is not merged
 */
public record Refusal(
        Reason reason,
        String detail,
        @Nullable Holder holder,
        @Nullable Puri survivor) {
    public static final int MAX_DETAIL_LENGTH = 1000;

    /** The owner and shard of the identity that stands in the way. */
    public record Holder(Owner owner, Shard shard) {}

    public Refusal {
        if (detail.length() > MAX_DETAIL_LENGTH) {
            detail = detail.substring(0, MAX_DETAIL_LENGTH - 1) + "…";
        }
    }

    /** A refusal without a holder and a survivor. */
    public static Refusal of(Reason reason, String detail) {
        return new Refusal(reason, detail, null, null);
    }
}
