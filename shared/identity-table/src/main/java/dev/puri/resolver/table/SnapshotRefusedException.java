package dev.puri.resolver.table;

/** A snapshot cannot be used: it is truncated, damaged, too old, or of another topic. The message has the reason. */
public final class SnapshotRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    SnapshotRefusedException(String message) {
        super(message);
    }

    SnapshotRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
