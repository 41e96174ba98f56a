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
 * Those who wait for the table, by what they wait for: the name, or anything at all where the name is
 * not known yet; and the token, whose event may be refused without a record of the name. A waiter is a
 * look that is tried again whenever there is news of one of these; it holds no thread.
 *
 * <pre>
 * waiter:  enter · look · nothing yet → leave it there
 * writer:  turn the doors · anybody there? → look again for each of this name
 * </pre>
 *
 * Either the waiter's look sees what was written, or the writer sees the waiter.
 */
public final class Waiters implements AutoCloseable {
    private final int most;
    private final int mostOfOne;
    private final AtomicInteger count = new AtomicInteger();

    /** How many waiters each caller has; of those who have any. */
    private final Map<Object, Integer> byCaller = new ConcurrentHashMap<>();

    private final Map<Object, Set<Waiter<?>>> byName = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor clock;

    /** Under which those wait who know no name. */
    private static final Object ANY = new Object();

    /** There are as many waiters as may be, or as many of this caller. */
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

        /** Looks, and leaves if there is something. */
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
                // Whoever looks is a thread that others wait for too: a failed look is its waiter's alone.
                answer.completeExceptionally(e);
            }
        }
    }

    /**
     * Bounds each caller to a tenth, so that none keeps all others from waiting.
     *
     * @param most how many may wait at once
     */
    public Waiters(int most) {
        this(most, Math.max(1, most / 10));
    }

    /**
     * Bounds each caller to a tenth, or to one batch where that is more: a batch that one caller alone may not wait for
     * could never succeed.
     *
     * @param most how many may wait at once
     * @param largestBatch how many waiters one request makes at most
     */
    public static Waiters forBatches(int most, int largestBatch) {
        return new Waiters(most, Math.max(largestBatch, most / 10));
    }

    /**
     * @param most how many may wait at once
     * @param mostOfOne how many of one caller
     */
    Waiters(int most, int mostOfOne) {
        this.most = most;
        this.mostOfOne = mostOfOne;
        clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("waiters").daemon(true).factory());
        clock.setRemoveOnCancelPolicy(true);
        // Once closed it takes nothing, and nobody waits for it.
        clock.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    /**
     * Looks until there is something to see; once closed, it looks just once.
     *
     * @param caller who asks, such as a connection
     * @param puri whose news are waited for; null for all
     * @param token of the event that is waited for; null for none
     * @param wait how long at most; a negative one is zero, and one too long for a timer is clamped
     * @param look gives null while there is nothing yet; quick, for any thread may call it
     * @return completes with what was seen, with null when the wait is over; cancelling it ends the wait.
     *     Completes on the thread that writes the table, so what depends on it must hop away.
     * @throws TooManyException when there are as many waiters as may be, or as many of this caller
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
            // It may have come too late to be found by those who closed.
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

    /** Whether anybody waits; cheap. */
    public boolean isAnybodyThere() {
        return count.get() > 0;
    }

    /** How many wait. */
    public int count() {
        return count.get();
    }

    /** There is news of this name, and readers can see it. */
    public void wake(Puri puri) {
        tryAgain(puri);
    }

    /** There is news of this token's event. */
    public void wake(Position token) {
        if (isAnybodyThere()) {
            tryAgain(token);
        }
    }

    /** There is news, of whomever: those who know no name look again. */
    public void wakeNameless() {
        tryAgain(ANY);
    }

    /** Everything may be different now: a table was put in the place of another. */
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

    /** Ends every wait, as if its time were over, and those to come once they have looked. */
    @Override
    public void close() {
        // First: whoever comes from here on sees it, and whoever came before is found.
        clock.shutdownNow();
        for (Object name : List.copyOf(byName.keySet())) {
            of(name).forEach(waiter -> waiter.answer.complete(null));
        }
    }
}
