package dev.puri.tail;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** What a server or a resolver has started. All of it is closed in the opposite order, also when some parts cannot be closed. */
public final class Parts implements AutoCloseable {
    private final Deque<Runnable> started = new ArrayDeque<>();

    /** One that has been started, and how it is closed. */
    public <T> T add(T part, Consumer<T> close) {
        started.push(() -> close.accept(part));
        return part;
    }

    /** What has to be done before those are closed that are there already. */
    public void beforeThose(Runnable end) {
        started.push(end);
    }

    /**
     * Closes them; each once, however often it is called.
     *
     * @throws RuntimeException the first that was thrown, the others suppressed in it
     */
    @Override
    public void close() {
        RuntimeException failure = null;
        for (Runnable part = started.poll(); part != null; part = started.poll()) {
            try {
                part.run();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
