package dev.puri.client.resolve;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lets so many of a kind be under way at a time; the others wait in their order.
 *
 * @param <T> what takes turns; compared by identity
 */
final class Turns<T> {
    private final int max;
    private final Consumer<T> begin;
    private final Executor executor;

    /** Those without a turn yet. Guarded by this. */
    private final Set<T> waiting = new LinkedHashSet<>();

    /** Those that have had their turn and have not ended. Guarded by this. */
    private int underWay;

    /** Whether a thread begins those that wait. Guarded by this. */
    private boolean isBeginning;

    /** Guarded by this. */
    private boolean isClosed;

    /**
     * @param begin begins one, and does not throw
     */
    Turns(int max, Consumer<T> begin) {
        // The pool of all asynchronous stages of the JDK: it is never shut down.
        this(max, begin, new CompletableFuture<T>().defaultExecutor());
    }

    /**
     * @param executor begins those that one thread leaves to others; refuses none
     */
    Turns(int max, Consumer<T> begin, Executor executor) {
        this.max = max;
        this.begin = begin;
        this.executor = executor;
    }

    /** Begins it when it is its turn. */
    void add(T one) {
        synchronized (this) {
            waiting.add(one);
        }
        beginWaiting();
    }

    /** To be called once for each that was added, when it is over, begun or not. */
    void end(T one) {
        synchronized (this) {
            if (!waiting.remove(one)) {
                underWay--;
            }
        }
        beginWaiting();
    }

    /** Begins no more. */
    synchronized void close() {
        isClosed = true;
    }

    /**
     * By one thread at a time, so that those that end at once are not begun one call deeper each. A thread begins {@code max} at
     * most, and another goes on: the thread may be the timer's, or one of a caller that waits.
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
