package dev.puri.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Closes a service when it ends or when the process is terminated. */
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
     * @param termination completes when the service ends, exceptionally if it fails
     * @throws ExecutionException if the service fails
     */
    static void awaitEndAndClose(Service service, CompletableFuture<?> termination)
            throws ExecutionException, InterruptedException {
        try (Closing closing = closeAtExit(service)) {
            termination.get();
        }
    }

    /**
     * Registers a service to be closed when the process is terminated. The caller closes the returned object to close
     * the service earlier. The service is closed only once.
     */
    static Closing closeAtExit(Service service) {
        Closing closing = new Closing(service);
        Runtime.getRuntime().addShutdownHook(closing.shutdownHook);
        return closing;
    }

    /** Closes a service once. */
    static final class Closing implements AutoCloseable {
        private final Service service;
        private final AtomicBoolean closed = new AtomicBoolean();
        private final Thread shutdownHook = new Thread(this::closeOnce, "close-at-exit");

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
                Runtime.getRuntime().removeShutdownHook(shutdownHook);
            } catch (IllegalStateException e) {
                // The process is shutting down. The hook does nothing, because the service is closed.
            }
        }
    }
}
