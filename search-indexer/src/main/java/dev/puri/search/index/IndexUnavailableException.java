package dev.puri.search.index;

/** The engine is out of reach or too busy, for now: what was asked may be asked again, and nothing is lost. */
public final class IndexUnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Says what was tried and what the engine said. */
    public IndexUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
