package dev.puri.resolver.live;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads changes that are older than the ring from the topic, with one thread for each subscriber that needs them. A
 * subscriber that has caught up with the ring arrives at the rounds of {@link Subscribers}. Thread-safe.
 */
final class Replays {
    private static final Logger log = LoggerFactory.getLogger(Replays.class);

    /** Reads of the topic, each shorter than the one before, until one meets the ring. */
    private static final int MAX_READS = 20;

    /** Records that a replay reads before it reports its progress to the subscriber. */
    private static final int PROGRESS_PERIOD = 10_000;

    private final Subscribers subscribers;
    private final ChangeLog changes;
    private final ChangesOptions options;
    private final Semaphore permits;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    Replays(Subscribers subscribers, ChangeLog changes, ChangesOptions options) {
        this.subscribers = subscribers;
        this.changes = changes;
        this.options = options;
        this.permits = new Semaphore(options.maxReplays());
    }

    /** Acquires the permit for a replay; false if there are too many. */
    boolean tryAcquire() {
        return permits.tryAcquire();
    }

    /** Returns the permit of a replay that is not started. */
    void release() {
        permits.release();
    }

    /** Starts a replay. The caller holds a permit, which the replay returns. */
    void start(Subscription subscription) {
        Thread reading = Thread.ofPlatform().name("changes-replay").daemon(true).unstarted(() -> {
            try {
                replay(subscription);
            } finally {
                threads.remove(Thread.currentThread());
                permits.release();
            }
        });
        threads.add(reading);
        boolean runs = false;
        try {
            reading.start();
            runs = true;
        } finally {
            if (!runs) {
                // There may be no memory for a thread. The subscriber connects again with its id.
                threads.remove(reading);
                permits.release();
                subscribers.drop(subscription, Subscribers.BYE, Subscribers.FAILED);
            }
        }
    }

    private void replay(Subscription subscription) {
        try {
            for (int i = 0; i < MAX_READS && !subscription.isOver(); i++) {
                ChangeRing ring = subscribers.current();
                if (ring == null || subscribers.isInRing(subscription, ring)) {
                    subscribers.arrive(subscription);
                    return;
                }
                // Read in this order, so that the replay covers everything up to the time of completeness.
                long complete = ring.completeAt();
                long[] to = ring.next();
                Reader reader = new Reader(subscription);
                changes.read(subscription.nextOffsets().clone(), to, reader);
                if (subscribers.isEnding() || subscription.isOver()) {
                    subscribers.endOne(subscription, Subscribers.STOPPING);
                    return;
                }
                if (reader.isTooSlow) {
                    subscribers.drop(subscription, Subscribers.DROPPED, Subscribers.SLOW);
                    return;
                }
                subscription.passed(to, complete);
            }
            subscribers.drop(subscription, Subscribers.BYE, Subscribers.FAILED);
        } catch (ChangeLog.GoneException e) {
            ChangeRing ring = subscribers.current();
            if (ring != null) {
                subscription.reset(ring, "gone");
                subscribers.arrive(subscription);
            }
        } catch (RuntimeException | Error e) {
            if (subscribers.isEnding()) {
                subscribers.endOne(subscription, Subscribers.STOPPING);
                return;
            }
            log.warn("Older changes could not be read: {}", e.toString());
            subscribers.drop(subscription, Subscribers.BYE, Subscribers.FAILED);
        }
    }

    /** Sends replayed changes to one subscriber, no faster than it reads. */
    private final class Reader implements ChangeLog.Taker {
        private final Subscription subscription;
        private int unreported;
        private boolean isTooSlow;

        Reader(Subscription subscription) {
            this.subscription = subscription;
        }

        @Override
        public boolean take(int partition, long next, @Nullable Change change) {
            // Until compaction, the topic has records of erased identities and of earlier ones of the same name.
            Change current = change != null && change.isCurrent(subscribers.isThere()) ? change : null;
            if (subscribers.isEnding() || !hasRoom() || !subscription.pass(partition, next, current)) {
                return false;
            }
            if (++unreported % PROGRESS_PERIOD == 0) {
                return subscription.sendId();
            }
            return true;
        }

        private boolean hasRoom() {
            long begun = System.nanoTime();
            while (subscription.isFull()) {
                if (subscribers.isEnding() || subscription.isOver()) {
                    return false;
                }
                if (System.nanoTime() - begun > options.stallTimeout().toNanos()) {
                    isTooSlow = true;
                    return false;
                }
                LockSupport.parkNanos(this, Subscribers.BLOCKED_NANOS);
            }
            return true;
        }
    }

    /** Interrupts all replays. */
    void interrupt() {
        threads.forEach(Thread::interrupt);
    }

    /** Waits until all replays have ended, for at most this time each. */
    void join(Duration timeout) {
        try {
            for (Thread reading : threads) {
                reading.join(timeout);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
