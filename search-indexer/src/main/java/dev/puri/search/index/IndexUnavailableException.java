package dev.puri.search.index;

/**
 * Reports that the engine cannot be reached, is too busy, or failed. The caller may try again; the topics still contain
 * all changes.
 */
public final class IndexUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception whose message ends with the message of the root cause, for example "No space left on
     * device".
     *
     * @param failure the beginning of the message: the operation that failed, and where
     * @param cause an exception that has the root cause, or is the root cause
     */
    public static IndexUnavailableException causedBy(String failure, Throwable cause) {
        Throwable root = cause;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return new IndexUnavailableException(
                failure + ": " + (root.getMessage() == null ? root.toString() : root.getMessage()), cause);
    }

    /** Creates an exception for a failure that the engine reported in a response. */
    public IndexUnavailableException(String message) {
        super(message);
    }

    /** Creates an exception for a failure that another exception reported. */
    public IndexUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
