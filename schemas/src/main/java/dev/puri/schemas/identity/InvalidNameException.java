package dev.puri.schemas.identity;

/**
 * Thrown if a text is not a valid name. The message quotes the text, truncated to 120 characters, and contains the
 * broken rule and the position.
 */
public final class InvalidNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private static final int MAX_QUOTED_CHARACTERS = 120;

    private final NameRule rule;
    private final int position;
    private final String quotedInput;
    private final String explanation;

    InvalidNameException(NameRule rule, String input, int position, String explanation) {
        this(rule, position, quote(input), explanation);
    }

    private InvalidNameException(NameRule rule, int position, String quotedInput, String explanation) {
        super(message(quotedInput, position, explanation));
        this.rule = rule;
        this.position = position;
        this.quotedInput = quotedInput;
        this.explanation = explanation;
    }

    /** The broken rule. Its name is stable: the test vectors in {@code schemas/spec} contain it. */
    public NameRule rule() {
        return rule;
    }

    /** Index of the invalid UTF-16 code unit in the input, from 0; -1 if the error has no position. */
    public int position() {
        return position;
    }

    /** The input as quoted in the message: truncated, with all characters except printable ASCII escaped. */
    public String quotedInput() {
        return quotedInput;
    }

    /** The rule in words, without the input and the position. */
    public String explanation() {
        return explanation;
    }

    private static String message(String quotedInput, int position, String explanation) {
        String where = position < 0 ? "" : " at position " + position;
        return quotedInput + where + ": " + explanation;
    }

    /** Quotes the input and escapes all characters except printable ASCII, so that the input cannot forge log lines. */
    static String quote(String input) {
        int end = Math.min(input.length(), MAX_QUOTED_CHARACTERS);
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
