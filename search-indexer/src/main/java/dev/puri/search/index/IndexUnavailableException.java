package dev.puri.search.index;

/** The engine is out of reach or too busy, for now: what was asked may be asked again, and nothing is lost. */
public final class IndexUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * An engine on a disk.
     *
     * @param tried what was tried, and where
     * @param cause whose innermost message says why, e.g. that no space is left
     */
    public static IndexUnavailableException because(String tried, Throwable cause) {
        Throwable innermost = cause;
        while (innermost.getCause() != null) {
            innermost = innermost.getCause();
        }
        return new IndexUnavailableException(
                tried + ": " + (innermost.getMessage() == null ? innermost.toString() : innermost.getMessage()), cause);
    }

    /** Says what was tried and what the engine said. */
    public IndexUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
