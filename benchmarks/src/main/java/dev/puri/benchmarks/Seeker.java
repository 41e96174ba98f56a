package dev.puri.benchmarks;

import dev.puri.schemas.identity.Puri;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Asks a resolver for identities, each every {@link #STEP} from its acknowledgement on, until it is
 * found. All that are due go over one connection in one write, by a thread of its own.
 */
final class Seeker implements AutoCloseable {
    /** An identity is found this much late at most, when the machine keeps up. */
    static final Duration STEP = Duration.ofMillis(3);

    private static final int FOUND = 200;
    private static final int UNKNOWN = 404;

    private final PipelinedGets resolver;
    private final int mostOpen;
    private final Thread thread = Thread.ofPlatform().name("seeker").unstarted(this::run);
    private final Queue<Sought> arriving = new ConcurrentLinkedQueue<>();
    private final Sightings sightings = new Sightings();
    private final Histogram waitsFromSeek = new Histogram(Sightings.LONGEST_MICROS, 3);
    private long questions;
    private volatile boolean closed;

    private static final class Sought {
        private final String path;
        private final long since;
        private final boolean counts;
        private final long soughtAt;
        private long missingAt;

        private Sought(String path, long since, boolean counts, long soughtAt) {
            this.path = path;
            this.since = since;
            this.counts = counts;
            this.soughtAt = soughtAt;
            this.missingAt = soughtAt;
        }
    }

    /**
     * @param mostOpen how many may be sought at a time; more mean that the registry cannot keep up
     */
    Seeker(int port, int mostOpen) throws IOException {
        this.resolver = new PipelinedGets("127.0.0.1", port);
        this.mostOpen = mostOpen;
        thread.start();
    }

    /**
     * Seeks an identity. From any thread.
     *
     * @param since the nano time from which its wait counts
     * @param counts false for one that only warms up
     */
    void seek(Puri puri, long since, boolean counts) {
        arriving.add(new Sought("/v1/identities/" + puri, since, counts, System.nanoTime()));
    }

    /** Gives up, because one can never be found. */
    void fail(Throwable why) {
        sightings.fail(why);
    }

    /**
     * Waits until that many have been found.
     *
     * @throws IllegalStateException when they are not
     */
    Sightings.Found awaitAll(long count) throws Exception {
        sightings.await(count);
        close();
        return sightings.found(questions);
    }

    /** Returns the µs from the calls of {@link #seek} to the answers; complete after {@link #awaitAll}. */
    Histogram waitsFromSeek() {
        return waitsFromSeek;
    }

    private void run() {
        List<Sought> open = new ArrayList<>();
        try {
            for (long next = System.nanoTime(); !closed; next += STEP.toNanos()) {
                LockSupport.parkNanos(next - System.nanoTime());
                for (Sought sought = arriving.poll(); sought != null; sought = arriving.poll()) {
                    open.add(sought);
                }
                if (open.size() > mostOpen) {
                    throw new IllegalStateException(open.size() + " identities are not to be found");
                }
                ask(open);
                next = Math.max(next, System.nanoTime() - STEP.toNanos());
            }
        } catch (IOException | RuntimeException e) {
            fail(e);
        }
    }

    private void ask(List<Sought> open) throws IOException {
        long asked = System.nanoTime();
        questions += open.size();
        Iterator<Sought> answered = open.iterator();
        resolver.get(
                open.stream().map(sought -> sought.path).toList(), status -> answer(answered.next(), status, asked));
        open.removeIf(sought -> sought.missingAt == Long.MAX_VALUE);
    }

    private void answer(Sought sought, int status, long asked) {
        if (status == UNKNOWN) {
            sought.missingAt = asked;
        } else if (status == FOUND) {
            if (sought.counts) {
                waitsFromSeek.recordValue(
                        Math.min((System.nanoTime() - sought.soughtAt) / 1000, Sightings.LONGEST_MICROS));
            }
            sightings.saw(sought.since, sought.missingAt, sought.counts);
            sought.missingAt = Long.MAX_VALUE;
        } else {
            throw new IllegalStateException(sought.path + " was answered with " + status);
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        resolver.close();
    }
}
