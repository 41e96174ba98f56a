package dev.puri.tail;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Why a task cannot do its work now. A task that is retried fails many times for the same reason, so its caller logs a
 * reason only when it changes. Thread-safe.
 */
public final class FailureState {
    private final AtomicReference<@Nullable String> reason;

    /** Creates a state without a failure. */
    public FailureState() {
        this(null);
    }

    /** Creates a state with the reason that holds before the task's first attempt, or null. */
    public FailureState(@Nullable String initialReason) {
        reason = new AtomicReference<>(initialReason);
    }

    /** Returns the reason, for people; null while the task does its work. */
    public @Nullable String reason() {
        return reason.get();
    }

    /**
     * Notes a failure.
     *
     * @return whether the reason differs from the previous one, so that the caller logs it
     */
    public boolean changeTo(String newReason) {
        return !newReason.equals(reason.getAndSet(newReason));
    }

    /** Notes that the task does its work. */
    public void clear() {
        reason.set(null);
    }
}
