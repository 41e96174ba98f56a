package dev.puri.client.resolve;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Limits the number of tasks that run concurrently. Further tasks wait in the order in which they were added.
 *
 * @param <T> type of a task; two tasks must be equal only if they are the same object
 */
final class ConcurrencyLimiter<T> {
    private final int maxRunning;
    private final Consumer<T> begin;
    private final Executor executor;

    /** Tasks that have not begun. Guarded by this. */
    private final Set<T> waiting = new LinkedHashSet<>();

    /** Number of tasks that have begun and not ended. Guarded by this. */
    private int runningCount;

    /** Whether a thread begins tasks at the moment, or the executor will soon. Guarded by this. */
    private boolean isThreadBeginning;

    /** Guarded by this. */
    private boolean isClosed;

    /**
     * @param maxRunning maximum number of tasks that run concurrently
     * @param begin begins a task; must not throw
     */
    ConcurrencyLimiter(int maxRunning, Consumer<T> begin) {
        // The default pool of asynchronous stages. The JDK never shuts this pool down, so it never rejects.
        this(maxRunning, begin, new CompletableFuture<T>().defaultExecutor());
    }

    /**
     * @param executor begins further tasks after a thread has begun {@code maxRunning} tasks; must not reject
     */
    ConcurrencyLimiter(int maxRunning, Consumer<T> begin, Executor executor) {
        this.maxRunning = maxRunning;
        this.begin = begin;
        this.executor = executor;
    }

    /** Begins a task as soon as fewer than {@code maxRunning} tasks are running. */
    void add(T task) {
        synchronized (this) {
            waiting.add(task);
        }
        beginWaiting();
    }

    /** Removes a task. Must be called once for each added task when the task is over, also if the task never began. */
    void end(T task) {
        synchronized (this) {
            if (!waiting.remove(task)) {
                runningCount--;
            }
        }
        beginWaiting();
    }

    /** From now on no waiting task begins. */
    synchronized void close() {
        isClosed = true;
    }

    /**
     * Only one thread at a time begins tasks. Otherwise a task that ends at once would begin the next task in a nested
     * call, and many such tasks would overflow the stack. A thread begins at most {@code maxRunning} tasks, and the
     * executor begins the others, because the thread may be a timer's thread, or belong to a caller that waits.
     */
    private void beginWaiting() {
        synchronized (this) {
            if (isThreadBeginning) {
                return;
            }
            isThreadBeginning = true;
        }
        beginSome();
    }

    private void beginSome() {
        for (int begunCount = 0; begunCount < maxRunning; begunCount++) {
            T next = take();
            if (next == null) {
                return;
            }
            begin.accept(next);
        }
        if (updateThreadBeginning()) {
            executor.execute(this::beginSome);
        }
    }

    /** Returns whether the next task may begin now. If it may not, the calling thread must begin no further task. */
    private synchronized boolean updateThreadBeginning() {
        isThreadBeginning = !isClosed && !waiting.isEmpty() && runningCount < maxRunning;
        return isThreadBeginning;
    }

    private synchronized @Nullable T take() {
        if (!updateThreadBeginning()) {
            return null;
        }
        T next = waiting.iterator().next();
        waiting.remove(next);
        runningCount++;
        return next;
    }
}
