package dev.puri.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Runs a service until it ends or the process is terminated. */
final class Lifetime {
    private Lifetime() {}

    /** A service whose {@code close} throws no checked exception. */
    interface Service extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * Waits until the service ends or the process is terminated, and closes the service.
     *
     * @param ended completes when the service ends, exceptionally if it fails
     * @throws ExecutionException if the service fails
     */
    static void untilEnded(Service service, CompletableFuture<?> ended)
            throws ExecutionException, InterruptedException {
        try (Closing closing = onExit(service)) {
            ended.get();
        }
    }

    /** Closes the service once: when the result is closed, or earlier if the process is terminated. */
    static Closing onExit(Service service) {
        Closing closing = new Closing(service);
        Runtime.getRuntime().addShutdownHook(closing.hook);
        return closing;
    }

    static final class Closing implements AutoCloseable {
        private final Service service;
        private final AtomicBoolean closed = new AtomicBoolean();
        private final Thread hook = new Thread(this::closeOnce, "close-at-exit");

        private Closing(Service service) {
            this.service = service;
        }

        private void closeOnce() {
            if (closed.compareAndSet(false, true)) {
                service.close();
            }
        }

        @Override
        public void close() {
            closeOnce();
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException e) {
                // The process is shutting down; the hook does nothing, because the service is closed.
            }
        }
    }
}
