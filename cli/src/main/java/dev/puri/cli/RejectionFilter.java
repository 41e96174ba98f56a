package dev.puri.cli;

import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import java.time.Instant;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects rejections. A rejection must meet every condition.
 *
 * @param reasons the accepted reasons; empty for all
 * @param positions the accepted positions of refused events; empty for all
 * @param puri the pURI of the refused event; null for all
 * @param since the earliest time of the refusal, by the registry's clock; null for no bound
 * @param until the time before which the event was refused, by the registry's clock; null for no bound
 */
record RejectionFilter(
        Set<Reason> reasons,
        Set<Position> positions,
        @Nullable Puri puri,
        @Nullable Instant since,
        @Nullable Instant until) {
    /** Matches every rejection. */
    static final RejectionFilter NONE = new RejectionFilter(Set.of(), Set.of(), null, null, null);

    RejectionFilter {
        reasons = Set.copyOf(reasons);
        positions = Set.copyOf(positions);
    }

    /** Whether there is no condition. */
    boolean isEmpty() {
        return equals(NONE);
    }

    boolean matches(Rejection rejection) {
        return (reasons.isEmpty()
                        || reasons.stream().anyMatch(each -> each.name().equals(rejection.getReason())))
                && (positions.isEmpty() || positions.contains(StoredRejection.positionOf(rejection)))
                && (puri == null || puri.toString().equals(rejection.getPuri()))
                && (since == null || !rejection.getRejectedAt().isBefore(since))
                && (until == null || rejection.getRejectedAt().isBefore(until));
    }
}
