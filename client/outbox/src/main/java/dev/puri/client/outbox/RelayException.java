package dev.puri.client.outbox;

/** Nothing can be published for now: the broker, the schema registry or the producer failed. The rows are kept. */
public final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RelayException(String message, Throwable cause) {
        super(message, cause);
    }
}
