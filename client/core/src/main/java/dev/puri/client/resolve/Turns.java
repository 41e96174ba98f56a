package dev.puri.client.resolve;

import java.util.LinkedHashSet;
import java.util.Set;
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
        this.max = max;
        this.begin = begin;
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

    /** By one thread at a time, so that those that end at once are not begun one call deeper each. */
    private void beginWaiting() {
        synchronized (this) {
            if (isBeginning) {
                return;
            }
            isBeginning = true;
        }
        for (T next = take(); next != null; next = take()) {
            begin.accept(next);
        }
    }

    private synchronized @Nullable T take() {
        if (isClosed || waiting.isEmpty() || underWay >= max) {
            isBeginning = false;
            return null;
        }
        T next = waiting.iterator().next();
        waiting.remove(next);
        underWay++;
        return next;
    }
}
