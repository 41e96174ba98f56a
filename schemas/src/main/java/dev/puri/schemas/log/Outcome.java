package dev.puri.schemas.log;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of an event. The text of an outcome is {@code applied}, {@code unchanged} or {@code refused:REASON}.
 *
 * @param kind the kind of the outcome
 * @param reason the reason why the event was refused; null if the event was not refused
 */
public record Outcome(Kind kind, @Nullable Reason reason) {
    /** Header of {@code puri.identities.v1}: the outcome of the event at the position in the record's other header. */
    public static final String HEADER = "outcome";

    public static final Outcome APPLIED = new Outcome(Kind.APPLIED, null);
    public static final Outcome UNCHANGED = new Outcome(Kind.UNCHANGED, null);

    private static final String REFUSED_PREFIX = "refused:";

    /** The kind of an outcome. */
    public enum Kind {
        /** The event changed the row. */
        APPLIED,
        /** The event was valid but changed nothing, for example because it was a retry. */
        UNCHANGED,
        /** The event broke a rule and changed nothing. */
        REFUSED
    }

    /**
     * @throws IllegalArgumentException if a refusal has no reason, or another outcome has a reason
     */
    public Outcome {
        if ((kind == Kind.REFUSED) != (reason != null)) {
            throw new IllegalArgumentException(
                    "a refusal must have a reason, and another outcome must not: " + kind + ", " + reason);
        }
    }

    /** Returns the outcome of an event that was refused for a reason. */
    public static Outcome refused(Reason reason) {
        return new Outcome(Kind.REFUSED, reason);
    }

    /**
     * Parses the text of an outcome.
     *
     * @throws IllegalArgumentException if the text is not an outcome
     */
    public static Outcome parse(String text) {
        if (text.equals("applied")) {
            return APPLIED;
        }
        if (text.equals("unchanged")) {
            return UNCHANGED;
        }
        if (text.startsWith(REFUSED_PREFIX)) {
            return refused(Reason.valueOf(text.substring(REFUSED_PREFIX.length())));
        }
        throw new IllegalArgumentException("not an outcome: " + text);
    }

    @Override
    public String toString() {
        return switch (kind) {
            case APPLIED -> "applied";
            case UNCHANGED -> "unchanged";
            case REFUSED -> REFUSED_PREFIX + reason;
        };
    }
}
