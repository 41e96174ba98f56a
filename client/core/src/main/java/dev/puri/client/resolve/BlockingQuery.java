package dev.puri.client.resolve;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A call that blocks its thread. Cancelled while it runs, it is interrupted, and is done only when it has returned. */
final class BlockingQuery<T> extends CompletableFuture<T> implements Runnable {
    private final Supplier<T> call;

    /** On which it runs; null before and after. Guarded by this. */
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

    /** No interrupt of ours comes after this, or is left for what the thread does next. */
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
