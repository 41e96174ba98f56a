package dev.puri.benchmarks;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/** When what was published was seen. Written by one thread, awaited by another. */
final class Sightings {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    static final long LONGEST_MICROS = PATIENCE.toNanos() / 1000;

    private final AtomicLong seen = new AtomicLong();
    private final CompletableFuture<Void> failed = new CompletableFuture<>();
    private final Histogram waits = new Histogram(LONGEST_MICROS, 3);
    private final Histogram overestimates = new Histogram(LONGEST_MICROS, 3);

    /**
     * What came out.
     *
     * @param waits µs from the intended time of publication to the first answer that has the identity
     * @param overestimates µs since the last question that was answered without it: a wait may really have been shorter,
     *     by this at most
     * @param questions that were asked
     */
    record Found(Histogram waits, Histogram overestimates, long questions) {}

    /**
     * One was seen now.
     *
     * @param since the nano time from which its wait counts
     * @param missingAt when it was last asked for and not there
     * @param counts false for one that only warms up
     */
    void saw(long since, long missingAt, boolean counts) {
        long now = System.nanoTime();
        if (counts) {
            waits.recordValue(Math.min((now - since) / 1000, LONGEST_MICROS));
            overestimates.recordValue(Math.min((now - missingAt) / 1000, LONGEST_MICROS));
        }
        seen.incrementAndGet();
    }

    /** Gives up, because one can never be seen. From any thread. */
    void fail(Throwable why) {
        failed.completeExceptionally(why);
    }

    /**
     * Waits until that many have been seen.
     *
     * @throws IllegalStateException when they are not
     */
    void await(long count) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (seen.get() < count) {
            try {
                failed.get(10, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException("only " + seen + " of " + count + " identities were found", e);
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException("seeking failed after " + seen + " identities", e.getCause());
            }
        }
    }

    /** To be asked when nobody sees any more. */
    Found found(long questions) {
        return new Found(waits, overestimates, questions);
    }
}
