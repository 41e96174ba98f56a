package dev.puri.schemas.identity;

/**
 * A text that is not the name it was taken for. The message quotes the input (shortened past 120
 * characters), the position and the rule.
 */
public final class InvalidNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private static final int QUOTED = 120;

    private final NameRule rule;
    private final int position;

    InvalidNameException(NameRule rule, String input, int position, String explanation) {
        super(message(input, position, explanation));
        this.rule = rule;
        this.position = position;
    }

    /** The rule that was broken; stable, and named in the vectors of {@code schemas/spec}. */
    public NameRule rule() {
        return rule;
    }

    /** Index of the offending UTF-16 code unit in the input, from 0; -1 when no single place is at fault. */
    public int position() {
        return position;
    }

    private static String message(String input, int position, String explanation) {
        String where = position < 0 ? "" : " at position " + position;
        return quote(input) + where + ": " + explanation;
    }

    /** Quotes so that no input can forge a line of a log: what is not printable ASCII is escaped. */
    static String quote(String input) {
        int end = Math.min(input.length(), QUOTED);
        StringBuilder quoted = new StringBuilder(end + 3).append('"');
        for (int i = 0; i < end; i++) {
            char c = input.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c >= 0x20 && c < 0x7F) {
                quoted.append(c);
            } else {
                quoted.append(String.format("\\u%04x", (int) c));
            }
        }
        return quoted.append(end < input.length() ? "\"…" : "\"").toString();
    }
}
