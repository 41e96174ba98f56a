package dev.puri.benchmarks.environment;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A thread that runs until {@link #close}. */
public final class BackgroundThread implements AutoCloseable {
    private final Thread thread;
    private volatile boolean isClosing;

    /**
     * Starts the thread.
     *
     * @param body must return when the supplier that it receives returns true
     */
    public BackgroundThread(String name, Consumer<BooleanSupplier> body) {
        thread = Thread.ofPlatform().name(name).start(() -> body.accept(() -> isClosing));
    }

    /** Waits until the thread has ended. */
    @Override
    public void close() {
        isClosing = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
