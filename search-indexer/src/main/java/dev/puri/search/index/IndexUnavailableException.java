package dev.puri.search.index;

/** The engine is out of reach or too busy. The caller may try again; nothing is lost. */
public final class IndexUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception whose message ends with the message of the root cause, e.g. "No space left on device".
     *
     * @param tried the operation that failed, and where
     * @param cause the failure
     */
    public static IndexUnavailableException because(String tried, Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return new IndexUnavailableException(
                tried + ": " + (root.getMessage() == null ? root.toString() : root.getMessage()), cause);
    }

    /** Creates an exception for a failure that the engine reported. */
    public IndexUnavailableException(String message) {
        super(message);
    }

    /** Creates an exception for a failure of a call. */
    public IndexUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
