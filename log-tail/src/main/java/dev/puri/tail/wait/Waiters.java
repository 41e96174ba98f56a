package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
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
 * not known yet. A waiter is a look that is tried again whenever its name was heard of; it holds no
 * thread.
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
    private final AtomicInteger count = new AtomicInteger();
    private final Map<Object, Set<Waiter<?>>> byName = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor clock;

    /** Under which those wait who know no name. */
    private static final Object ANY = new Object();

    /** There are as many waiters as may be. */
    public static final class TooManyException extends Exception {
        private static final long serialVersionUID = 1L;

        TooManyException(int most) {
            super(most + " requests wait already");
        }
    }

    private final class Waiter<T> {
        private final Object name;
        private final Supplier<@Nullable T> look;
        private final CompletableFuture<@Nullable T> answer = new CompletableFuture<>();
        private volatile @Nullable ScheduledFuture<?> end;

        Waiter(Object name, Supplier<@Nullable T> look) {
            this.name = name;
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
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            }
        }
    }

    /**
     * @param most how many may wait at once
     */
    public Waiters(int most) {
        this.most = most;
        clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("waiters").daemon(true).factory());
        clock.setRemoveOnCancelPolicy(true);
        // Once closed it takes nothing, and nobody waits for it.
        clock.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    /**
     * Looks until there is something to see; once closed, it looks just once.
     *
     * @param puri whose news are waited for; null for all
     * @param wait how long at most
     * @param look gives null while there is nothing yet; quick, for any thread may call it
     * @return completes with what was seen, with null when the wait is over; cancelling it ends the wait.
     *     Completes on the thread that writes the table, so what depends on it must hop away.
     * @throws TooManyException when there are as many waiters as may be
     */
    public <T> CompletableFuture<@Nullable T> await(@Nullable Puri puri, Duration wait, Supplier<@Nullable T> look)
            throws TooManyException {
        if (count.incrementAndGet() > most) {
            count.decrementAndGet();
            throw new TooManyException(most);
        }
        Waiter<T> waiter = new Waiter<>(puri == null ? ANY : puri, look);
        byName.compute(waiter.name, (name, there) -> {
            Set<Waiter<?>> all = there == null ? new HashSet<>(2) : there;
            all.add(waiter);
            return all;
        });
        waiter.answer.whenComplete((seen, failure) -> leave(waiter));
        waiter.tryAgain();
        if (!waiter.answer.isDone()) {
            ScheduledFuture<?> end = clock.schedule(waiter::lookLast, wait.toNanos(), TimeUnit.NANOSECONDS);
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

    private void leave(Waiter<?> waiter) {
        byName.computeIfPresent(waiter.name, (name, all) -> {
            all.remove(waiter);
            return all.isEmpty() ? null : all;
        });
        count.decrementAndGet();
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
