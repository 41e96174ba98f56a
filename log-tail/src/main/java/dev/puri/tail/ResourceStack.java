package dev.puri.tail;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a server, which are closed in the reverse order of their start. A resource that fails to close does
 * not keep the others open. Used by one thread at a time.
 */
public final class ResourceStack implements AutoCloseable {
    private final Deque<Runnable> closeActions = new ArrayDeque<>();

    /**
     * Adds a resource that has been started.
     *
     * @param close closes the resource
     * @return the resource
     */
    public <T> T add(T resource, Consumer<T> close) {
        closeActions.push(() -> close.accept(resource));
        return resource;
    }

    /**
     * Adds an action that {@link #close} runs before it closes the resources added so far, such as draining a listener.
     */
    public void runBeforeClosing(Runnable action) {
        closeActions.push(action);
    }

    /**
     * Closes all resources. Each is closed once, even if this method is called again.
     *
     * @throws RuntimeException or an Error, the first that a resource threw; the others are suppressed in it
     */
    @Override
    public void close() {
        Throwable failure = null;
        for (Runnable action = closeActions.poll(); action != null; action = closeActions.poll()) {
            try {
                action.run();
            } catch (RuntimeException | Error e) {
                failure = first(failure, e);
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    private static Throwable first(@Nullable Throwable before, Throwable failure) {
        if (before == null) {
            return failure;
        }
        // Two resources may throw the same exception, which cannot be suppressed in itself.
        if (before != failure) {
            before.addSuppressed(failure);
        }
        return before;
    }
}
