package dev.puri.tail.wait;

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
 * Waits for changes of the table. Each is registered under the name that it waits for, or under all names if the name
 * is not known yet; and under its token, since an event may be refused without a record of the name. A wait is a look
 * that is repeated for each news of one of these. It holds no thread.
 *
 * <pre>
 * waiter:  register · look · nothing yet → stay registered
 * writer:  publish the change · any waiters? → repeat the looks of this name
 * </pre>
 *
 * Either the waiter's look sees the change, or the writer sees the waiter.
 */
public final class Waiters implements AutoCloseable {
    private final int most;
    private final int mostOfOne;
    private final AtomicInteger count = new AtomicInteger();

    /** The number of waiters of each caller that has any. */
    private final Map<Object, Integer> byCaller = new ConcurrentHashMap<>();

    private final Map<Object, Set<Waiter<?>>> byName = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor clock;

    /** The key of waiters that know no name. */
    private static final Object ANY = new Object();

    /** The number of waiters, or of one caller's, has reached its limit. */
    public static final class TooManyException extends Exception {
        private static final long serialVersionUID = 1L;

        TooManyException(String message) {
            super(message);
        }
    }

    private final class Waiter<T> {
        private final Object caller;
        private final List<Object> names;
        private final Supplier<@Nullable T> look;
        private final CompletableFuture<@Nullable T> answer = new CompletableFuture<>();
        private volatile @Nullable ScheduledFuture<?> end;

        Waiter(Object caller, List<Object> names, Supplier<@Nullable T> look) {
            this.caller = caller;
            this.names = names;
            this.look = look;
        }

        void lookLast() {
            tryAgain();
            answer.complete(null);
        }

        /** Looks, and ends the wait if there is a result. */
        void tryAgain() {
            if (answer.isDone()) {
                return;
            }
            try {
                T seen = look.get();
                if (seen != null) {
                    answer.complete(seen);
                }
            } catch (RuntimeException | Error e) {
                // The thread that looks serves other waiters too: a failed look must end its own wait alone.
                answer.completeExceptionally(e);
            }
        }
    }

    /**
     * Limits each caller to a tenth, so that none prevents the others from waiting.
     *
     * @param most the limit of waiters
     */
    public Waiters(int most) {
        this(most, Math.max(1, most / 10));
    }

    /**
     * Limits each caller to a tenth, or to one batch where that is more: a batch beyond the limit of its caller could
     * never succeed.
     *
     * @param most the limit of waiters
     * @param largestBatch the largest number of waiters of one request
     */
    public static Waiters forBatches(int most, int largestBatch) {
        return new Waiters(most, Math.max(largestBatch, most / 10));
    }

    /**
     * @param most the limit of waiters
     * @param mostOfOne the limit of waiters of one caller
     */
    Waiters(int most, int mostOfOne) {
        this.most = most;
        this.mostOfOne = mostOfOne;
        clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("waiters").daemon(true).factory());
        clock.setRemoveOnCancelPolicy(true);
        // After the close, it discards new timers: await ends those waits itself.
        clock.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    /**
     * Looks until there is a result; after the close, it looks once.
     *
     * @param caller the client, such as a connection
     * @param puri the name whose news repeat the look; null for any news
     * @param token the event whose news repeat the look; null for none
     * @param wait a negative one is zero, and one too long for a timer is clamped
     * @param look returns null while there is no result; quick, since any thread may call it
     * @return completes with the result, or with null when the wait is over; cancelling it ends the wait. Completes on
     *     the thread that writes the table, so dependent work must move to another thread
     * @throws TooManyException when a limit of waiters is reached
     */
    public <T> CompletableFuture<@Nullable T> await(
            Object caller, @Nullable Puri puri, @Nullable Position token, Duration wait, Supplier<@Nullable T> look)
            throws TooManyException {
        enter(caller);
        Object name = puri == null ? ANY : puri;
        Waiter<T> waiter = new Waiter<>(caller, token == null ? List.of(name) : List.of(name, token), look);
        for (Object each : waiter.names) {
            byName.compute(each, (same, there) -> {
                Set<Waiter<?>> all = there == null ? new HashSet<>(2) : there;
                all.add(waiter);
                return all;
            });
        }
        waiter.answer.whenComplete((seen, failure) -> leave(waiter));
        waiter.tryAgain();
        if (!waiter.answer.isDone()) {
            ScheduledFuture<?> end =
                    clock.schedule(waiter::lookLast, TimeUnit.NANOSECONDS.convert(wait), TimeUnit.NANOSECONDS);
            waiter.end = end;
            if (waiter.answer.isDone()) {
                end.cancel(false);
            }
        }
        if (clock.isShutdown()) {
            // The close may not have found this waiter.
            waiter.answer.complete(null);
        }
        return waiter.answer;
    }

    private void enter(Object caller) throws TooManyException {
        if (count.incrementAndGet() > most) {
            count.decrementAndGet();
            throw new TooManyException(most + " requests wait already");
        }
        if (byCaller.merge(caller, 1, Integer::sum) > mostOfOne) {
            releaseCaller(caller);
            throw new TooManyException(mostOfOne + " requests of this connection wait already");
        }
    }

    private void releaseCaller(Object caller) {
        byCaller.computeIfPresent(caller, (same, waiting) -> waiting == 1 ? null : waiting - 1);
        count.decrementAndGet();
    }

    private void leave(Waiter<?> waiter) {
        for (Object name : waiter.names) {
            byName.computeIfPresent(name, (same, all) -> {
                all.remove(waiter);
                return all.isEmpty() ? null : all;
            });
        }
        releaseCaller(waiter.caller);
        ScheduledFuture<?> end = waiter.end;
        if (end != null) {
            end.cancel(false);
        }
    }

    /** Whether there are any waiters; cheap. */
    public boolean isAnybodyThere() {
        return count.get() > 0;
    }

    /** The number of waiters. */
    public int count() {
        return count.get();
    }

    /** Repeats the looks for a name: readers can see a change of it. */
    public void wake(Puri puri) {
        tryAgain(puri);
    }

    /** Repeats the looks for a token: its event has a known outcome. */
    public void wake(Position token) {
        if (isAnybodyThere()) {
            tryAgain(token);
        }
    }

    /** Repeats the looks of waiters that know no name: readers can see some change. */
    public void wakeNameless() {
        tryAgain(ANY);
    }

    /** Repeats all looks: another table has replaced the one before. */
    public void wakeAll() {
        List.copyOf(byName.keySet()).forEach(this::tryAgain);
    }

    private void tryAgain(Object name) {
        of(name).forEach(Waiter::tryAgain);
    }

    private List<Waiter<?>> of(Object name) {
        List<Waiter<?>> now = new ArrayList<>();
        byName.computeIfPresent(name, (same, all) -> {
            now.addAll(all);
            return all;
        });
        return now;
    }

    /** Ends every wait as if its time were over, and later waits after one look. */
    @Override
    public void close() {
        // First: a later waiter sees that it is shut down, and the loop below finds earlier ones.
        clock.shutdownNow();
        for (Object name : List.copyOf(byName.keySet())) {
            of(name).forEach(waiter -> waiter.answer.complete(null));
        }
    }
}
