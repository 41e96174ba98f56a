package dev.puri.schemas.log;

import org.jspecify.annotations.Nullable;

/**
 * What became of an event: {@code applied}, {@code unchanged}, or {@code refused:REASON} as text.
 *
 * @param kind what became of it
 * @param reason why it was refused; null unless it was
 */
public record Outcome(Kind kind, @Nullable Reason reason) {
    /** Header of {@code puri.identities.v1}: the outcome of the event that the record answers. */
    public static final String HEADER = "outcome";

    public static final Outcome APPLIED = new Outcome(Kind.APPLIED, null);
    public static final Outcome UNCHANGED = new Outcome(Kind.UNCHANGED, null);

    private static final String REFUSED = "refused:";

    /** What became of an event. */
    public enum Kind {
        /** It changed the row. */
        APPLIED,
        /** It was allowed and changed nothing, for example because it had been applied before. */
        UNCHANGED,
        /** It broke a rule and changed nothing. */
        REFUSED
    }

    /**
     * @throws IllegalArgumentException when a refusal has no reason, or another outcome has one
     */
    public Outcome {
        if ((kind == Kind.REFUSED) != (reason != null)) {
            throw new IllegalArgumentException("a reason belongs to a refusal: " + kind + ", " + reason);
        }
    }

    /** A refusal for this reason. */
    public static Outcome refused(Reason reason) {
        return new Outcome(Kind.REFUSED, reason);
    }

    /**
     * Reads the header's text.
     *
     * @throws IllegalArgumentException when it is no outcome
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
