package dev.puri.client.resolve;

import org.jspecify.annotations.Nullable;

/** A look-up failed without a verdict. Asking again is harmless. */
public final class ResolverException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why there is no verdict. */
    public enum Kind {
        /** Too many look-ups are pending; nothing was sent. */
        FULL,
        /** No resolver could be reached, or none responded in time, or the response was too large. */
        UNREACHABLE,
        /**
         * A resolver responded with an error or an unreadable answer, for example because its table is not complete
         * yet.
         */
        UNAVAILABLE,
        /** A resolver rejected the request, for example because a bearer token is missing or the batch is too large. */
        REJECTED,
        /** The deadline passed. */
        DEADLINE,
        /** The client is closed. */
        CLOSED,
        /** The waiting thread was interrupted; its interrupt status is set. */
        INTERRUPTED
    }

    private final Kind kind;

    /**
     * @param cause null if there is none
     */
    public ResolverException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** Creates an exception without a cause. */
    public ResolverException(Kind kind, String message) {
        this(kind, message, null);
    }

    /** Why there is no verdict. */
    public Kind kind() {
        return kind;
    }
}
