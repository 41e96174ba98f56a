package dev.puri.cli;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/** How long a service lives: until the process is told to end, or it ends by itself. */
final class Lifetime {
    private Lifetime() {}

    /** Something that is closed without complaint. */
    interface Service extends AutoCloseable {
        @Override
        void close();
    }

    /**
     * Keeps a service until then, and closes it in order.
     *
     * @param ended completes when the service ends by itself, exceptionally when it failed
     * @throws ExecutionException with what the service failed of
     */
    static void untilEnded(Service service, CompletableFuture<?> ended)
            throws ExecutionException, InterruptedException {
        try (Closing closing = onExit(service)) {
            ended.get();
        }
    }

    /** Closes the service once: when the result is closed, or when the process is told to end before that. */
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
                // The process ends, and the hook finds the work done.
            }
        }
    }
}
