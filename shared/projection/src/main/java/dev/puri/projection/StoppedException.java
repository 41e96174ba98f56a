package dev.puri.projection;

/** Thrown by work that a {@link Stop} ended before it was finished. The message says which work. */
public final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message names the work, such as {@code stopped while filling the table}
     */
    public StoppedException(String message) {
        super(message);
    }
}
