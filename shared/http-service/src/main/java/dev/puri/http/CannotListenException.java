package dev.puri.http;

/** Thrown if a listener cannot start. The message names the address or file and the reason. */
public final class CannotListenException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CannotListenException(String message, Throwable cause) {
        super(message, cause);
    }
}
