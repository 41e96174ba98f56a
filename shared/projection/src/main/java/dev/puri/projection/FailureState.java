package dev.puri.projection;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a task fails now. A task that is retried may fail many times for the same reason, so the caller logs
 * the reason only when it changes. Thread-safe.
 */
public final class FailureState {
    private final AtomicReference<@Nullable String> reason;

    /** Creates a state without a failure. */
    public FailureState() {
        this(null);
    }

    /** Creates a state with a reason that applies until the task's first attempt ends; null for none. */
    public FailureState(@Nullable String initialReason) {
        reason = new AtomicReference<>(initialReason);
    }

    /** Returns the reason, as text for people; null while the task does not fail. */
    public @Nullable String reason() {
        return reason.get();
    }

    /**
     * Notes that the task failed.
     *
     * @return whether the reason differs from the previous one, so that the caller should log it
     */
    public boolean changeTo(String newReason) {
        return !newReason.equals(reason.getAndSet(newReason));
    }

    /** Notes that the task succeeded. */
    public void clear() {
        reason.set(null);
    }
}
