package dev.puri.client.resolve;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Limits how many tasks are under way at a time. The others wait in the order in which they were added.
 *
 * @param <T> a task; its {@code equals} must be that of identity
 */
final class ConcurrencyLimiter<T> {
    private final int max;
    private final Consumer<T> begin;
    private final Executor executor;

    /** Tasks that have not begun. Guarded by this. */
    private final Set<T> waiting = new LinkedHashSet<>();

    /** Number of tasks that have begun and not ended. Guarded by this. */
    private int underWay;

    /** Whether some thread is beginning waiting tasks. Guarded by this. */
    private boolean isBeginning;

    /** Guarded by this. */
    private boolean isClosed;

    /**
     * @param max most tasks under way
     * @param begin begins a task; must not throw
     */
    ConcurrencyLimiter(int max, Consumer<T> begin) {
        // The pool that the JDK uses for asynchronous stages; it is never shut down.
        this(max, begin, new CompletableFuture<T>().defaultExecutor());
    }

    /**
     * @param executor continues for a thread that has begun {@code max} tasks; must not reject
     */
    ConcurrencyLimiter(int max, Consumer<T> begin, Executor executor) {
        this.max = max;
        this.begin = begin;
        this.executor = executor;
    }

    /** Begins a task as soon as fewer than {@code max} are under way. */
    void add(T task) {
        synchronized (this) {
            waiting.add(task);
        }
        beginWaiting();
    }

    /** Must be called once for each added task when it is over, begun or not. */
    void end(T task) {
        synchronized (this) {
            if (!waiting.remove(task)) {
                underWay--;
            }
        }
        beginWaiting();
    }

    /** Begins no more tasks. */
    synchronized void close() {
        isClosed = true;
    }

    /**
     * Only one thread at a time begins tasks. Otherwise each task that ends at once would begin the next one deeper in the stack. A
     * thread begins at most {@code max} tasks and leaves the rest to the executor, because it may be the timer's, or that of a
     * caller who waits.
     */
    private void beginWaiting() {
        synchronized (this) {
            if (isBeginning) {
                return;
            }
            isBeginning = true;
        }
        beginSome();
    }

    private void beginSome() {
        for (int begun = 0; begun < max; begun++) {
            T next = take();
            if (next == null) {
                return;
            }
            begin.accept(next);
        }
        if (goesOn()) {
            executor.execute(this::beginSome);
        }
    }

    private synchronized boolean goesOn() {
        isBeginning = !isClosed && !waiting.isEmpty() && underWay < max;
        return isBeginning;
    }

    private synchronized @Nullable T take() {
        if (!goesOn()) {
            return null;
        }
        T next = waiting.iterator().next();
        waiting.remove(next);
        underWay++;
        return next;
    }
}
