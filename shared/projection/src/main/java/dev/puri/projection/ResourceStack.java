package dev.puri.projection;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The resources of a server. {@link #close} closes them in the reverse order of their start; if one resource fails to
 * close, the others are still closed. Used by one thread at a time.
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
     * Adds an action, such as draining a listener. {@link #close} runs it before it closes the resources added so far.
     */
    public void runBeforeClosing(Runnable action) {
        closeActions.push(action);
    }

    /**
     * Closes all resources. Each is closed once, even if this method is called again.
     *
     * @throws RuntimeException the first exception (or an Error) of a resource, with later ones as suppressed
     *     exceptions
     */
    @Override
    public void close() {
        Throwable failure = null;
        for (Runnable action = closeActions.poll(); action != null; action = closeActions.poll()) {
            try {
                action.run();
            } catch (RuntimeException | Error e) {
                failure = combine(failure, e);
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /**
     * Closes all resources because a start has failed, so that the caller can throw the failure. Throws nothing.
     *
     * @param failure gets the exceptions of resources as suppressed exceptions
     */
    public void closeAfter(Throwable failure) {
        try {
            close();
        } catch (RuntimeException | Error e) {
            combine(failure, e);
        }
    }

    private static Throwable combine(@Nullable Throwable first, Throwable failure) {
        if (first == null) {
            return failure;
        }
        // Two resources may throw the same exception object, which cannot suppress itself.
        if (first != failure) {
            first.addSuppressed(failure);
        }
        return first;
    }
}
