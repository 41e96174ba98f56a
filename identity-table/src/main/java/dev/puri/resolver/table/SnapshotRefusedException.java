package dev.puri.resolver.table;

/** A snapshot is torn, damaged, of something else, or too old. The message says which. */
public final class SnapshotRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    SnapshotRefusedException(String message) {
        super(message);
    }

    SnapshotRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
