package dev.puri.client.resolve;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a blocking call, which a thread runs. Cancelling interrupts the thread of a running call, and the
 * future completes only when the call returns.
 */
final class BlockingQuery<T> extends CompletableFuture<T> implements Runnable {
    private final Supplier<T> call;

    /** The thread that is running the call; null before and after the call. Guarded by this. */
    private @Nullable Thread thread;

    /** Guarded by this. */
    private boolean isCancelRequested;

    BlockingQuery(Supplier<T> call) {
        this.call = call;
    }

    @Override
    public void run() {
        synchronized (this) {
            if (isCancelRequested) {
                return;
            }
            thread = Thread.currentThread();
        }
        try {
            T result = call.get();
            endInterruptibleTime();
            complete(result);
        } catch (Throwable e) {
            endInterruptibleTime();
            completeExceptionally(e);
        }
    }

    /** From now on a cancel does not interrupt the thread. Also clears an interrupt that the call has not consumed. */
    private synchronized void endInterruptibleTime() {
        thread = null;
        if (isCancelRequested) {
            var unused = Thread.interrupted();
        }
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        synchronized (this) {
            isCancelRequested = true;
            if (thread != null) {
                thread.interrupt();
                return false;
            }
        }
        return super.cancel(mayInterrupt);
    }
}
