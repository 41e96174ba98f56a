package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/** A look-up that came to no verdict. Asking again is harmless. */
public final class ResolverException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kept it from an answer. */
    public enum Kind {
        /** As many look-ups are pending as may be; nothing was sent. */
        FULL,
        /** No resolver address could be reached, or kept to the protocol's bounds. */
        UNREACHABLE,
        /** Resolvers were reached and answered with an error, such as a table that is not complete yet. */
        UNAVAILABLE,
        /** A resolver took the request for wrong: a missing token, a batch over its bound. */
        REJECTED,
        /** The deadline passed. */
        DEADLINE,
        /** The client is closed. */
        CLOSED,
        /** The thread that waited was interrupted; it still is. */
        INTERRUPTED
    }

    private final Kind kind;

    /**
     * @param cause null where there is none
     */
    public ResolverException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** Without a cause. */
    public ResolverException(Kind kind, String message) {
        this(kind, message, null);
    }

    /** What kept the look-up from an answer. */
    public Kind kind() {
        return kind;
    }
}
