package dev.puri.projection.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for a change of the table. A waiter is registered under the name that it waits for, or under
 * a common key if the name is not known yet. It is also registered under its token, because a refused event may change
 * no row of the name. A waiter has a check that returns a result or null; each change of its name or token repeats the
 * check. A waiter holds no thread.
 *
 * <pre>
 * waiter:  register · check · no result → stay registered
 * writer:  make the change visible · any waiters? → repeat the checks of this name
 * </pre>
 *
 * No change is lost, because of this order: either the waiter's check sees the change, or the writer sees the waiter.
 */
public final class Waiters implements AutoCloseable {
    /** The key of waiters whose name is not known yet. */
    private static final Object ANY = new Object();

    private final int maxWaiters;
    private final int maxPerCaller;
    private final AtomicInteger count = new AtomicInteger();

    /** The number of waiters by caller; without callers that have none. */
    private final Map<Object, Integer> byCaller = new ConcurrentHashMap<>();

    /** The waiters by key: a name, a token, or {@link #ANY}. */
    private final Map<Object, Set<Waiter<?>>> byKey = new ConcurrentHashMap<>();

    private final ScheduledThreadPoolExecutor timers;

    /** The number of all waiters, or of the waiters of one caller, has reached its limit. */
    public static final class TooManyException extends Exception {
        private static final long serialVersionUID = 1L;

        TooManyException(String message) {
            super(message);
        }
    }

    private final class Waiter<T> {
        private final Object caller;
        private final List<Object> keys;
        private final Supplier<@Nullable T> check;
        private final CompletableFuture<@Nullable T> result = new CompletableFuture<>();
        private volatile @Nullable ScheduledFuture<?> timer;

        Waiter(Object caller, List<Object> keys, Supplier<@Nullable T> check) {
            this.caller = caller;
            this.keys = keys;
            this.check = check;
        }

        /** Checks a last time and ends the wait. */
        void timeOut() {
            check();
            result.complete(null);
        }

        /** Calls the check, and ends the wait if there is a result. */
        void check() {
            if (result.isDone()) {
                return;
            }
            try {
                T found = check.get();
                if (found != null) {
                    result.complete(found);
                }
            } catch (RuntimeException | Error e) {
                // The calling thread serves other waiters too: a failed check must end only its own wait.
                result.completeExceptionally(e);
            }
        }
    }

    /**
     * Limits each caller to a tenth of the waiters, so that one caller cannot take all of them.
     *
     * @param maxWaiters the maximum number of waiters
     */
    public Waiters(int maxWaiters) {
        this(maxWaiters, Math.max(1, maxWaiters / 10));
    }

    /**
     * Limits each caller to a tenth of the waiters, or to the size of one batch if that is larger: a batch beyond the
     * limit of its caller could never succeed.
     *
     * @param maxWaiters the maximum number of waiters
     * @param maxBatchSize the maximum number of waiters of one request
     */
    public static Waiters forBatches(int maxWaiters, int maxBatchSize) {
        return new Waiters(maxWaiters, Math.max(maxBatchSize, maxWaiters / 10));
    }

    /**
     * Has no separate limit for a caller, because there is only one.
     *
     * @param maxWaiters the maximum number of waiters
     */
    public static Waiters forOneCaller(int maxWaiters) {
        return new Waiters(maxWaiters, maxWaiters);
    }

    /**
     * @param maxWaiters the maximum number of waiters
     * @param maxPerCaller the maximum number of waiters of one caller
     */
    Waiters(int maxWaiters, int maxPerCaller) {
        this.maxWaiters = maxWaiters;
        this.maxPerCaller = maxPerCaller;
        timers = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("waiters").daemon(true).factory());
        timers.setRemoveOnCancelPolicy(true);
        // After the close, new timers are discarded; await then ends these waits itself.
        timers.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    /**
     * Calls {@code check} now and after each change, until it returns a result or the wait is over. After the close,
     * calls it once.
     *
     * @param caller the client, such as a connection
     * @param puri the name whose changes repeat the check; null for the changes of any name
     * @param token the event whose outcome repeats the check; null for none
     * @param wait the maximum wait; negative counts as zero, and a wait too long for a timer is shortened
     * @param check returns null while there is no result; must be quick, since any thread may call it
     * @return completes with the result, or with null when the wait is over. Completes on any thread, also on the one
     *     that writes the table, so dependent work must move to another thread. Cancelling it ends the wait
     * @throws TooManyException if a limit of waiters is reached
     */
    public <T> CompletableFuture<@Nullable T> await(
            Object caller, @Nullable Puri puri, @Nullable Position token, Duration wait, Supplier<@Nullable T> check)
            throws TooManyException {
        reservePlace(caller);
        Object name = puri == null ? ANY : puri;
        Waiter<T> waiter = new Waiter<>(caller, token == null ? List.of(name) : List.of(name, token), check);
        for (Object key : waiter.keys) {
            byKey.compute(key, (sameKey, existing) -> {
                Set<Waiter<?>> waiters = existing == null ? new HashSet<>(2) : existing;
                waiters.add(waiter);
                return waiters;
            });
        }
        waiter.result.whenComplete((found, failure) -> unregister(waiter));
        waiter.check();
        if (!waiter.result.isDone()) {
            ScheduledFuture<?> timer =
                    timers.schedule(waiter::timeOut, TimeUnit.NANOSECONDS.convert(wait), TimeUnit.NANOSECONDS);
            waiter.timer = timer;
            if (waiter.result.isDone()) {
                timer.cancel(false);
            }
        }
        if (timers.isShutdown()) {
            // The close may not have found this waiter.
            waiter.result.complete(null);
        }
        return waiter.result;
    }

    private void reservePlace(Object caller) throws TooManyException {
        if (count.incrementAndGet() > maxWaiters) {
            count.decrementAndGet();
            throw new TooManyException(maxWaiters + " requests are already waiting");
        }
        if (byCaller.merge(caller, 1, Integer::sum) > maxPerCaller) {
            releasePlace(caller);
            throw new TooManyException(maxPerCaller + " requests of this connection are already waiting");
        }
    }

    private void releasePlace(Object caller) {
        byCaller.computeIfPresent(caller, (sameCaller, waiterCount) -> waiterCount == 1 ? null : waiterCount - 1);
        count.decrementAndGet();
    }

    private void unregister(Waiter<?> waiter) {
        for (Object key : waiter.keys) {
            byKey.computeIfPresent(key, (sameKey, waiters) -> {
                waiters.remove(waiter);
                return waiters.isEmpty() ? null : waiters;
            });
        }
        releasePlace(waiter.caller);
        ScheduledFuture<?> timer = waiter.timer;
        if (timer != null) {
            timer.cancel(false);
        }
    }

    /** Returns whether there are any waiters. Reads one counter. */
    public boolean hasWaiters() {
        return count.get() > 0;
    }

    /** Returns the number of waiters. */
    public int count() {
        return count.get();
    }

    /** Repeats the checks for a name after a change that readers can see. */
    public void wake(Puri puri) {
        checkAll(puri);
    }

    /** Repeats the checks for a token, because the outcome of its event is known. */
    public void wake(Position token) {
        if (hasWaiters()) {
            checkAll(token);
        }
    }

    /** Repeats the checks that wait for a change of any name, after a change that readers can see. */
    public void wakeWaitersForAnyName() {
        checkAll(ANY);
    }

    /** Repeats all checks, because a new table has replaced the previous one. */
    public void wakeAll() {
        List.copyOf(byKey.keySet()).forEach(this::checkAll);
    }

    private void checkAll(Object key) {
        copyOfWaiters(key).forEach(Waiter::check);
    }

    private List<Waiter<?>> copyOfWaiters(Object key) {
        List<Waiter<?>> copy = new ArrayList<>();
        byKey.computeIfPresent(key, (sameKey, waiters) -> {
            copy.addAll(waiters);
            return waiters;
        });
        return copy;
    }

    /** Ends all waits with null, without a last check. Later waits end after one check. */
    @Override
    public void close() {
        // Must be first: waiters registered before it are found by the loop, and waiters registered later see the
        // shutdown.
        timers.shutdownNow();
        for (Object key : List.copyOf(byKey.keySet())) {
            copyOfWaiters(key).forEach(waiter -> waiter.result.complete(null));
        }
    }
}
