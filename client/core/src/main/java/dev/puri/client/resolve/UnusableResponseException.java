package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/** A resolver responded with an error status, or with a body that does not answer the request. */
final class UnusableResponseException extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int MAX_QUOTED_CHARS = 300;

    private final boolean isSameFromAllResolvers;

    /**
     * @param description beginning of the message
     * @param body body of the response, whose first {@value #MAX_QUOTED_CHARS} characters end the message
     * @param isSameFromAllResolvers whether other resolvers would respond in the same way
     */
    UnusableResponseException(
            String description, String body, boolean isSameFromAllResolvers, @Nullable Throwable cause) {
        super(description + quoted(body), cause);
        this.isSameFromAllResolvers = isSameFromAllResolvers;
    }

    /** Whether other resolvers would respond in the same way. */
    boolean isSameFromAllResolvers() {
        return isSameFromAllResolvers;
    }

    private static String quoted(String body) {
        String text = body.strip();
        return text.length() > MAX_QUOTED_CHARS ? text.substring(0, MAX_QUOTED_CHARS) + "…" : text;
    }
}
