package dev.puri.client.resolve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A clock and a timer whose time the test advances; actions run in the test's thread. */
final class TestTimer extends ScheduledThreadPoolExecutor implements AutoCloseable {
    private final List<Task> tasks = new ArrayList<>();
    private long nanos;

    private record Task(long dueAt, ScheduledFuture<?> handle, Runnable action) {}

    TestTimer() {
        super(1);
    }

    synchronized long nanos() {
        return nanos;
    }

    @Override
    public synchronized ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
        // It only has to be cancellable and is never due.
        ScheduledFuture<?> handle = super.schedule(() -> {}, 1, TimeUnit.DAYS);
        tasks.add(new Task(nanos + unit.toNanos(delay), handle, action));
        return handle;
    }

    /** Advances the time and runs the due actions, the earliest first. */
    void pass(Duration time) {
        long end = nanos() + time.toNanos();
        for (Runnable next = next(end); next != null; next = next(end)) {
            next.run();
        }
        synchronized (this) {
            nanos = end;
        }
    }

    private synchronized @Nullable Runnable next(long end) {
        tasks.removeIf(task -> task.handle().isCancelled());
        Task first = tasks.stream().min(Comparator.comparingLong(Task::dueAt)).orElse(null);
        if (first == null || first.dueAt() > end) {
            return null;
        }
        tasks.remove(first);
        nanos = Math.max(nanos, first.dueAt());
        return first.action();
    }

    @Override
    public void close() {
        shutdownNow();
    }
}
