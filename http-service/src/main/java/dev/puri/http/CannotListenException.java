package dev.puri.http;

/** A listener could not bind its address. The message names it and says why. */
public final class CannotListenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CannotListenException(String message, Throwable cause) {
        super(message, cause);
    }
}
