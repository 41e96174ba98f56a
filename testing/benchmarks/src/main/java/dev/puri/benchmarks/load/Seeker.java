package dev.puri.benchmarks.load;

import dev.puri.benchmarks.environment.BackgroundThread;
import dev.puri.benchmarks.report.Timing;
import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * Polls a server over HTTP in a background thread until it finds identities, and measures the time until then. In each
 * interval it asks for all identities that are not found yet, over one connection.
 */
public final class Seeker implements AutoCloseable {
    private static final Duration MAX_WAIT = Duration.ofSeconds(60);

    /** Interval between two requests to a resolver for an identity. The identity is found at most one interval late. */
    private static final Duration RESOLVER_INTERVAL = Duration.ofMillis(3);

    private final HttpSocket server;
    private final Duration interval;
    private final int maxTargets;
    private final Poller poller;
    private final Queue<Target> newTargets = new ConcurrentLinkedQueue<>();
    private final AtomicLong foundCount = new AtomicLong();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private final Histogram waits = Timing.histogram();
    private final Histogram overestimates = Timing.histogram();
    private final Histogram waitsFromSeek = Timing.histogram();
    private final BackgroundThread thread;
    private long requestCount;

    /** Asks a server for identities. */
    public interface Poller {
        /**
         * Asks once for each identity, and calls its {@link Target#recordAnswer}.
         *
         * @return the number of requests that were sent
         */
        int poll(HttpSocket server, List<Target> targets) throws IOException;
    }

    /** An identity that is not found yet. */
    public static final class Target {
        private final Puri puri;
        private final String query;
        private final long waitStartNanos;
        private final boolean isMeasured;
        private final long seekNanos = System.nanoTime();

        /** When the last request was sent that did not find the identity. */
        private long lastMissNanos = seekNanos;

        private long foundNanos;

        private Target(Puri puri, String query, long waitStartNanos, boolean isMeasured) {
            this.puri = puri;
            this.query = query;
            this.waitStartNanos = waitStartNanos;
            this.isMeasured = isMeasured;
        }

        /** Returns the pURI of the identity. */
        public Puri puri() {
            return puri;
        }

        /** Returns the word or path that the request contains. */
        public String query() {
            return query;
        }

        /** Records the answer to a request that was sent at this nano time. */
        public void recordAnswer(boolean isFound, long requestNanos) {
            if (isFound) {
                foundNanos = System.nanoTime();
            } else {
                lastMissNanos = requestNanos;
            }
        }
    }

    /**
     * Starts a seeker.
     *
     * @param interval between two requests for an identity
     * @param maxTargets maximum number of identities that are not found yet; more mean that the registry cannot keep up
     */
    public Seeker(int port, Duration interval, int maxTargets, Poller poller) throws IOException {
        this.server = new HttpSocket(port);
        this.interval = interval;
        this.maxTargets = maxTargets;
        this.poller = poller;
        this.thread = new BackgroundThread("seeker", this::run);
    }

    /** Starts a seeker that sends a resolver a GET for each identity, all of them in one write. */
    public static Seeker ofResolver(int port, int maxTargets) throws IOException {
        return new Seeker(port, RESOLVER_INTERVAL, maxTargets, Seeker::pollResolver);
    }

    private static int pollResolver(HttpSocket resolver, List<Target> targets) throws IOException {
        long requestNanos = System.nanoTime();
        Iterator<Target> answered = targets.iterator();
        resolver.getAll(targets.stream().map(Target::query).toList(), status -> {
            Target target = answered.next();
            if (status != 200 && status != 404) {
                throw new IllegalStateException(target.query + " was answered with " + status);
            }
            target.recordAnswer(status == 200, requestNanos);
        });
        return targets.size();
    }

    /**
     * Adds an identity to find. Any thread may call it.
     *
     * @param query the word or path for the request
     * @param waitStartNanos the nano time at which the measured wait starts
     * @param isMeasured false if the identity is part of the warm-up
     */
    public void seek(Puri puri, String query, long waitStartNanos, boolean isMeasured) {
        newTargets.add(new Target(puri, query, waitStartNanos, isMeasured));
    }

    /** Adds an identity to find in a resolver. Any thread may call it. */
    public void seek(Puri puri, long waitStartNanos, boolean isMeasured) {
        seek(puri, "/v1/identities/" + puri, waitStartNanos, isMeasured);
    }

    /** Ends the wait in {@link #awaitAll} with a failure. Any thread may call it. */
    public void fail(Throwable cause) {
        failure.completeExceptionally(cause);
    }

    private void run(BooleanSupplier isClosing) {
        List<Target> targets = new ArrayList<>();
        try {
            for (long nextNanos = System.nanoTime(); !isClosing.getAsBoolean(); nextNanos += interval.toNanos()) {
                LockSupport.parkNanos(nextNanos - System.nanoTime());
                for (Target target = newTargets.poll(); target != null; target = newTargets.poll()) {
                    targets.add(target);
                }
                if (targets.size() > maxTargets) {
                    throw new IllegalStateException(targets.size() + " identities are not found yet");
                }
                requestCount += poller.poll(server, targets);
                targets.removeIf(this::record);
                nextNanos = Math.max(nextNanos, System.nanoTime() - interval.toNanos());
            }
        } catch (IOException | RuntimeException e) {
            fail(e);
        }
    }

    /** Records the times of an identity if it was found; returns whether it was found. */
    private boolean record(Target target) {
        if (target.foundNanos == 0) {
            return false;
        }
        if (target.isMeasured) {
            Timing.record(target.foundNanos - target.waitStartNanos, waits);
            Timing.record(target.foundNanos - target.lastMissNanos, overestimates);
            Timing.record(target.foundNanos - target.seekNanos, waitsFromSeek);
        }
        foundCount.incrementAndGet();
        return true;
    }

    /**
     * Waits until this number of identities is found, and ends the thread. After this call, the histograms are
     * complete.
     *
     * @throws IllegalStateException if the identities are not found
     */
    void awaitAll(long count) throws Exception {
        long deadline = System.nanoTime() + MAX_WAIT.toNanos();
        while (foundCount.get() < count) {
            try {
                failure.get(10, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException(
                            "only " + foundCount + " of " + count + " identities were found", e);
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException("polling failed after " + foundCount + " identities", e.getCause());
            }
        }
        close();
    }

    /** Returns the times from the start of each wait to the first answer with the identity. */
    public Histogram waits() {
        return waits;
    }

    /** Returns the times from the calls of {@link #seek} to the answers. */
    public Histogram waitsFromSeek() {
        return waitsFromSeek;
    }

    /** Returns the waits, and by how much the polling interval may have lengthened them, for a line of progress. */
    public String describe() {
        return "%s; polling may have added at most %s; %,d requests"
                .formatted(Timing.describe(waits), Timing.describe(overestimates), requestCount);
    }

    @Override
    public void close() throws IOException {
        thread.close();
        server.close();
    }
}
