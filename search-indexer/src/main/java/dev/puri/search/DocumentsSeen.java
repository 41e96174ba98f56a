package dev.puri.search;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.Kind;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Up to which moment readers see every document that was written, by partition. What was written before that
 * needs no more asking, however much is written now:
 *
 * <pre>
 * brokers: the partition ends at 70 ─▶ readers see all up to 70 ─▶ they see all as of when the brokers were asked
 *   ▲                                                                      │ the next end
 *   └──────────────────────────────────────────────────────────────────────┘
 * </pre>
 *
 * Ends include what is not committed yet: a document may become visible later than the row of its transaction.
 * An end is kept until it is reached, so that an index that is far behind gets there too. Thread-safe.
 */
final class DocumentsSeen implements AutoCloseable {
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final Indexer indexer;
    private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("documents-seen").daemon(true).factory());
    private final Map<Integer, Progress> partitions = new HashMap<>();

    /** What feeds the index that this is of: another may see less. */
    private @Nullable Feed feed;

    /** Where a partition ended, and when that was asked by {@link System#nanoTime}. */
    private record End(long at, long offset) {}

    /**
     * How far a partition is seen.
     *
     * @param seen the last end that was reached
     * @param awaited the next one
     */
    private record Progress(@Nullable End seen, @Nullable End awaited) {
        Progress by(Feed feed, int partition) {
            return awaited != null && feed.seen().next(Kind.DOCUMENT, partition) >= awaited.offset()
                    ? new Progress(awaited, null)
                    : this;
        }

        Progress then(End end) {
            return awaited == null ? new Progress(seen, end) : this;
        }

        boolean isLaterThan(long moment) {
            return seen != null && seen.at() - moment >= 0;
        }
    }

    DocumentsSeen(Indexer indexer) {
        this.indexer = indexer;
        // Once closed it asks nobody.
        clock.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    }

    void start() {
        clock.execute(this::look);
    }

    private void look() {
        long at = System.nanoTime();
        indexer.watch().endsOfAll(Kind.DOCUMENT).whenComplete((ends, failure) -> {
            if (ends != null) {
                told(at, ends);
            }
            clock.schedule(this::look, PERIOD.toNanos(), TimeUnit.NANOSECONDS);
        });
    }

    private synchronized void told(long at, Map<Integer, Long> ends) {
        Feed now = feedOf(indexer.serving());
        if (now != feed) {
            partitions.clear();
            feed = now;
        }
        if (now != null) {
            ends.forEach((partition, offset) -> partitions.compute(
                    partition,
                    (same, progress) -> (progress == null ? new Progress(null, null) : progress)
                            .by(now, partition)
                            .then(new End(at, offset))));
        }
    }

    private static @Nullable Feed feedOf(@Nullable Served served) {
        return served == null ? null : served.feed();
    }

    /**
     * Whether readers certainly see the document that was written together with a name's row, which they see; or
     * that there is none.
     *
     * @param partition of the documents in which that is
     */
    synchronized boolean areAsOfRow(Puri puri, int partition) {
        Feed now = feedOf(indexer.serving());
        Progress progress = partitions.get(partition);
        return now != null
                && now == feed
                && progress != null
                && progress.by(now, partition).isLaterThan(now.heard().writtenBefore(puri));
    }

    @Override
    public void close() {
        clock.shutdownNow();
    }
}
