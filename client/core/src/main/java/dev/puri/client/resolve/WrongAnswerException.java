package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/** A resolver answered with an error status, or with a body that is no answer to the request. */
final class WrongAnswerException extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int MAX_QUOTED = 300;

    private final boolean isFinal;

    /**
     * @param what the beginning of the message
     * @param body quoted behind it, up to a bound
     * @param isFinal whether other resolvers would answer the same
     */
    WrongAnswerException(String what, String body, boolean isFinal, @Nullable Throwable cause) {
        super(what + quoted(body), cause);
        this.isFinal = isFinal;
    }

    /** Whether other resolvers would answer the same. */
    boolean isFinal() {
        return isFinal;
    }

    private static String quoted(String body) {
        String text = body.strip();
        return text.length() > MAX_QUOTED ? text.substring(0, MAX_QUOTED) + "…" : text;
    }
}
