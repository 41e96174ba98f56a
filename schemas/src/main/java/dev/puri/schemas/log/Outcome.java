package dev.puri.schemas.log;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of an event; as text {@code applied}, {@code unchanged} or {@code refused:REASON}.
 *
 * @param kind whether it was applied, unchanged or refused
 * @param reason why the event was refused; null otherwise
 */
public record Outcome(Kind kind, @Nullable Reason reason) {
    /** Header of {@code puri.identities.v1}: the outcome of the event that the record settles. */
    public static final String HEADER = "outcome";

    public static final Outcome APPLIED = new Outcome(Kind.APPLIED, null);
    public static final Outcome UNCHANGED = new Outcome(Kind.UNCHANGED, null);

    private static final String REFUSED = "refused:";

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
     * @throws IllegalArgumentException if a refusal has no reason, or another outcome has one
     */
    public Outcome {
        if ((kind == Kind.REFUSED) != (reason != null)) {
            throw new IllegalArgumentException("a reason belongs to a refusal: " + kind + ", " + reason);
        }
    }

    /** Returns a refusal with this reason. */
    public static Outcome refused(Reason reason) {
        return new Outcome(Kind.REFUSED, reason);
    }

    /**
     * Parses the header's text.
     *
     * @throws IllegalArgumentException if it is not an outcome
     */
    public static Outcome parse(String text) {
        if (text.equals("applied")) {
            return APPLIED;
        }
        if (text.equals("unchanged")) {
            return UNCHANGED;
        }
        if (text.startsWith(REFUSED)) {
            return refused(Reason.valueOf(text.substring(REFUSED.length())));
        }
        throw new IllegalArgumentException("not an outcome: " + text);
    }

    @Override
    public String toString() {
        return switch (kind) {
            case APPLIED -> "applied";
            case UNCHANGED -> "unchanged";
            case REFUSED -> REFUSED + reason;
        };
    }
}
