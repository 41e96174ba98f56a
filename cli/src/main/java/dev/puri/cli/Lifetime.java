package dev.puri.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Closes a service when it ends or when the process is terminated. */
final class Lifetime {
    private Lifetime() {}

    /**
     * Waits until the service ends or the process is terminated, and closes the service.
     *
     * @param close closes the service
     * @param termination completes when the service ends, exceptionally if it fails
     * @throws ExecutionException if the service fails before the process is terminated
     */
    static void awaitEndAndClose(Runnable close, CompletableFuture<?> termination)
            throws ExecutionException, InterruptedException {
        try (Closing closing = closeAtExit(close)) {
            try {
                termination.get();
            } catch (ExecutionException e) {
                // At Ctrl-C the terminal ends the child processes too.
                if (!closing.isProcessEnding) {
                    throw e;
                }
            }
        }
    }

    /**
     * Registers a service to be closed when the process is terminated. The caller closes the returned object to close
     * the service earlier. The service is closed only once.
     */
    static Closing closeAtExit(Runnable close) {
        Closing closing = new Closing(close);
        Runtime.getRuntime().addShutdownHook(closing.shutdownHook);
        return closing;
    }

    /** Closes a service once. */
    static final class Closing implements AutoCloseable {
        private final Runnable close;
        private final Thread shutdownHook = new Thread(this::closeAtEnd, "close-at-exit");
        private boolean isClosed;
        private volatile boolean isProcessEnding;

        private Closing(Runnable close) {
            this.close = close;
        }

        private void closeAtEnd() {
            isProcessEnding = true;
            closeOnce();
        }

        /** Returns when the service is closed, so that the process does not end while another thread closes it. */
        private synchronized void closeOnce() {
            if (!isClosed) {
                isClosed = true;
                close.run();
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
