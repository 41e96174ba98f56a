package dev.puri.cli;

import dev.puri.schemas.log.Outcome;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of an event, as the topology reports it.
 *
 * @param reason the reason why the event was refused, perhaps one that only a newer release knows; null if the event
 *     was not refused
 */
record ReportedOutcome(Outcome.Kind kind, @Nullable String reason) {
    private static final String REFUSED_PREFIX = "refused:";

    /** Returns the outcome of an event that was refused for a reason. */
    static ReportedOutcome refused(String reason) {
        return new ReportedOutcome(Outcome.Kind.REFUSED, reason);
    }

    /**
     * Parses the text of an {@link Outcome}.
     *
     * @throws IllegalArgumentException if the text is not an outcome
     */
    static ReportedOutcome parse(String text) {
        return text.startsWith(REFUSED_PREFIX)
                ? refused(text.substring(REFUSED_PREFIX.length()))
                : new ReportedOutcome(Outcome.parse(text).kind(), null);
    }

    @Override
    public String toString() {
        return reason == null ? kind.name().toLowerCase(Locale.ROOT) : REFUSED_PREFIX + reason;
    }
}
