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
 * Seeks identities over HTTP, each of them at a fixed interval until it is found, by a thread of its own. All that are
 * open are sought in turn over one connection.
 */
public final class Seeker implements AutoCloseable {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    /** An identity is found this much late at most, when the machine keeps up. */
    private static final Duration RESOLVER_STEP = Duration.ofMillis(3);

    private final HttpSocket server;
    private final Duration step;
    private final int mostOpen;
    private final Asker asker;
    private final Queue<Sought> arriving = new ConcurrentLinkedQueue<>();
    private final AtomicLong found = new AtomicLong();
    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    private final Histogram waits = Timing.histogram();
    private final Histogram overestimates = Timing.histogram();
    private final Histogram waitsFromSeek = Timing.histogram();
    private final BackgroundThread thread;
    private long requests;

    /** Asks for identities once. */
    public interface Asker {
        /**
         * Calls {@link Sought#answered} for each identity.
         *
         * @return how many requests were sent
         */
        int ask(HttpSocket server, List<Sought> open) throws IOException;
    }

    /** An identity that is not found yet. */
    public static final class Sought {
        private final Puri puri;
        private final String query;
        private final long since;
        private final boolean counts;
        private final long soughtAt = System.nanoTime();
        private long missingAt = soughtAt;
        private long foundAt;

        private Sought(Puri puri, String query, long since, boolean counts) {
            this.puri = puri;
            this.query = query;
            this.since = since;
            this.counts = counts;
        }

        /** Returns its name. */
        public Puri puri() {
            return puri;
        }

        /** Returns the word or path that the server is asked for. */
        public String query() {
            return query;
        }

        /** Notes an answer to a request that was sent at a nano time. */
        public void answered(boolean isFound, long askedAt) {
            if (isFound) {
                foundAt = System.nanoTime();
            } else {
                missingAt = askedAt;
            }
        }
    }

    /**
     * Starts a seeker.
     *
     * @param step between two searches
     * @param mostOpen identities at a time; more mean that the registry cannot keep up
     */
    public Seeker(int port, Duration step, int mostOpen, Asker asker) throws IOException {
        this.server = new HttpSocket(port);
        this.step = step;
        this.mostOpen = mostOpen;
        this.asker = asker;
        this.thread = new BackgroundThread("seeker", this::run);
    }

    /** Starts a seeker that asks a resolver for each identity by itself, all in one write. */
    public static Seeker ofResolver(int port, int mostOpen) throws IOException {
        return new Seeker(port, RESOLVER_STEP, mostOpen, Seeker::askResolver);
    }

    private static int askResolver(HttpSocket resolver, List<Sought> open) throws IOException {
        long asked = System.nanoTime();
        Iterator<Sought> answered = open.iterator();
        resolver.getAll(open.stream().map(Sought::query).toList(), status -> {
            Sought sought = answered.next();
            if (status != 200 && status != 404) {
                throw new IllegalStateException(sought.query + " was answered with " + status);
            }
            sought.answered(status == 200, asked);
        });
        return open.size();
    }

    /**
     * Seeks an identity. From any thread.
     *
     * @param query for which the server is asked
     * @param since the nano time from which its wait counts
     * @param counts false for one that only warms up
     */
    public void seek(Puri puri, String query, long since, boolean counts) {
        arriving.add(new Sought(puri, query, since, counts));
    }

    /** Seeks an identity of a resolver. From any thread. */
    public void seek(Puri puri, long since, boolean counts) {
        seek(puri, "/v1/identities/" + puri, since, counts);
    }

    /** Gives up, because an identity can never be found. From any thread. */
    public void fail(Throwable why) {
        failed.completeExceptionally(why);
    }

    private void run(BooleanSupplier isClosing) {
        List<Sought> open = new ArrayList<>();
        try {
            for (long next = System.nanoTime(); !isClosing.getAsBoolean(); next += step.toNanos()) {
                LockSupport.parkNanos(next - System.nanoTime());
                for (Sought sought = arriving.poll(); sought != null; sought = arriving.poll()) {
                    open.add(sought);
                }
                if (open.size() > mostOpen) {
                    throw new IllegalStateException(open.size() + " identities were not found");
                }
                requests += asker.ask(server, open);
                open.removeIf(this::record);
                next = Math.max(next, System.nanoTime() - step.toNanos());
            }
        } catch (IOException | RuntimeException e) {
            fail(e);
        }
    }

    /** Records the times of an identity, and returns whether it was found. */
    private boolean record(Sought sought) {
        if (sought.foundAt == 0) {
            return false;
        }
        if (sought.counts) {
            Timing.record(sought.foundAt - sought.since, waits);
            Timing.record(sought.foundAt - sought.missingAt, overestimates);
            Timing.record(sought.foundAt - sought.soughtAt, waitsFromSeek);
        }
        found.incrementAndGet();
        return true;
    }

    /**
     * Waits until that many have been found, and ends. The other methods' results are complete after that.
     *
     * @throws IllegalStateException if they are not found
     */
    public void awaitAll(long count) throws Exception {
        long deadline = System.nanoTime() + LONGEST_WAIT.toNanos();
        while (found.get() < count) {
            try {
                failed.get(10, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException("only " + found + " of " + count + " identities were found", e);
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException("seeking failed after " + found + " identities", e.getCause());
            }
        }
        close();
    }

    /** Returns the times from the start of each wait to the first answer that has the identity. */
    public Histogram waits() {
        return waits;
    }

    /** Returns the times from the calls of {@link #seek} to the answers. */
    public Histogram waitsFromSeek() {
        return waitsFromSeek;
    }

    /** Returns the waits, and by how much asking at intervals may have lengthened them, for a line of progress. */
    public String describe() {
        return "%s; found late by the asking itself at most %s; %,d requests"
                .formatted(Timing.describe(waits), Timing.describe(overestimates), requests);
    }

    @Override
    public void close() throws IOException {
        thread.close();
        server.close();
    }
}
