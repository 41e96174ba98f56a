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
 * Replays changes that are older than the ring from the topic, with one thread for each subscriber that needs them.
 * When a subscriber has caught up with the ring, its replay hands it over to the sender thread of {@link Subscribers}.
 * Thread-safe.
 */
final class Replays {
    private static final Logger log = LoggerFactory.getLogger(Replays.class);

    /** Maximum number of reads in a replay; each read is shorter, until the ring has the missing changes. */
    private static final int MAX_READS = 20;

    /** Number of records after which a replay sends the current id to the subscriber. */
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

    /** Acquires a permit for a replay; returns false if too many replays run. */
    boolean tryAcquire() {
        return permits.tryAcquire();
    }

    /** Returns the permit of a replay that is not started. */
    void release() {
        permits.release();
    }

    /** Starts a replay. The caller holds a permit, which the replay returns. */
    void start(Subscription subscription) {
        Thread thread = Thread.ofPlatform().name("changes-replay").daemon(true).unstarted(() -> {
            try {
                replay(subscription);
            } finally {
                threads.remove(Thread.currentThread());
                permits.release();
            }
        });
        threads.add(thread);
        boolean isStarted = false;
        try {
            thread.start();
            isStarted = true;
        } finally {
            if (!isStarted) {
                // For example, there is no memory for a thread. The subscriber connects again with its id.
                threads.remove(thread);
                permits.release();
                subscribers.drop(subscription, Subscribers.BYE, Subscribers.FAILED);
            }
        }
    }

    private void replay(Subscription subscription) {
        try {
            for (int i = 0; i < MAX_READS && !subscription.isEnded(); i++) {
                ChangeRing ring = subscribers.currentRing();
                if (ring == null || subscribers.attach(subscription, ring)) {
                    subscribers.addToSender(subscription);
                    return;
                }
                // Read in this order, so that the offsets include every change up to that time.
                long completeAtSeconds = ring.completeAtSeconds();
                long[] to = ring.nextOffsets();
                Reader reader = new Reader(subscription, to);
                changes.read(subscription.nextOffsets().clone(), to, reader);
                if (subscribers.isDraining() || subscription.isEnded()) {
                    subscribers.endWithBye(subscription, Subscribers.STOPPING);
                    return;
                }
                if (reader.isTooSlow) {
                    subscribers.drop(subscription, Subscribers.DROPPED, Subscribers.SLOW);
                    return;
                }
                subscription.advanceTo(to, completeAtSeconds);
            }
            subscribers.drop(subscription, Subscribers.BYE, Subscribers.FAILED);
        } catch (ChangeLog.GoneException e) {
            ChangeRing ring = subscribers.currentRing();
            if (ring != null) {
                subscription.reset(ring, "gone");
                subscribers.addToSender(subscription);
            }
        } catch (RuntimeException | Error e) {
            if (subscribers.isDraining()) {
                subscribers.endWithBye(subscription, Subscribers.STOPPING);
                return;
            }
            log.warn("A replay of older changes failed: {}", e.toString());
            subscribers.drop(subscription, Subscribers.BYE, Subscribers.FAILED);
        }
    }

    /** Sends replayed changes to one subscriber, no faster than it reads. */
    private final class Reader implements ChangeLog.Receiver {
        private final Subscription subscription;
        private final long[] to;
        private int recordCount;
        private boolean isTooSlow;

        Reader(Subscription subscription, long[] to) {
            this.subscription = subscription;
            this.to = to;
        }

        @Override
        public boolean receive(int partition, long nextOffset, @Nullable Change change) {
            if (nextOffset > to[partition]) {
                // The table may not have this change yet. The ring will have it, or the next read.
                return true;
            }
            // Until compaction, the topic has records of erased identities and of earlier identities of a name.
            Change current = change != null && change.isCurrent(subscribers::exists) ? change : null;
            if (subscribers.isDraining() || !awaitRoom() || !subscription.advancePast(partition, nextOffset, current)) {
                return false;
            }
            if (++recordCount % PROGRESS_PERIOD == 0) {
                return subscription.sendId();
            }
            return true;
        }

        /** Waits until the stream is not full; returns false if the replay must end. */
        private boolean awaitRoom() {
            long startNanos = System.nanoTime();
            while (subscription.isFull()) {
                if (subscribers.isDraining() || subscription.isEnded()) {
                    return false;
                }
                if (System.nanoTime() - startNanos > options.stallTimeout().toNanos()) {
                    isTooSlow = true;
                    return false;
                }
                LockSupport.parkNanos(this, Subscribers.FULL_STREAM_DELAY_NANOS);
            }
            return true;
        }
    }

    /** Interrupts all replays. */
    void interrupt() {
        threads.forEach(Thread::interrupt);
    }

    /** Waits until all replays have ended; for each replay, at most this time. */
    void join(Duration timeout) {
        try {
            for (Thread thread : threads) {
                thread.join(timeout);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
