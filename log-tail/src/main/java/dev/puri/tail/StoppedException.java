package dev.puri.tail;

/** A {@link Stop} ended the work before it was done. The message says which work. */
public final class StoppedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param message what was under way, such as {@code stopped while filling the table}
     */
    public StoppedException(String message) {
        super(message);
    }
}
