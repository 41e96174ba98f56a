package dev.puri.client.resolve;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A call that blocks its thread. Cancelling a running call interrupts its thread; the future completes only when the call returns. */
final class BlockingQuery<T> extends CompletableFuture<T> implements Runnable {
    private final Supplier<T> call;

    /** The thread that runs the call; null before and after. Guarded by this. */
    private @Nullable Thread thread;

    /** Guarded by this. */
    private boolean isCancelled;

    BlockingQuery(Supplier<T> call) {
        this.call = call;
    }

    @Override
    public void run() {
        synchronized (this) {
            if (isCancelled) {
                return;
            }
            thread = Thread.currentThread();
        }
        try {
            T result = call.get();
            leave();
            complete(result);
        } catch (Throwable e) {
            leave();
            completeExceptionally(e);
        }
    }

    /** Ends the time in which a cancel interrupts the thread, and clears an interrupt that the call has not consumed. */
    private synchronized void leave() {
        thread = null;
        if (isCancelled) {
            var unused = Thread.interrupted();
        }
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        synchronized (this) {
            isCancelled = true;
            if (thread != null) {
                thread.interrupt();
                return false;
            }
        }
        return super.cancel(mayInterrupt);
    }
}
