package dev.puri.search;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import dev.puri.tail.FailureState;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks, for each partition, the last time before which readers see every document. A wait for an older document need
 * not ask the brokers, however much is written now:
 *
 * <pre>
 * brokers: the partition ends at 70 ─▶ readers see all up to 70 ─▶ they see all as of when the brokers were asked
 *   ▲                                                                      │ the next end
 *   └──────────────────────────────────────────────────────────────────────┘
 * </pre>
 *
 * The ends are high watermarks: a document may become visible later than the row of its transaction. Each end is
 * awaited until it is reached, so that an index with a large lag gets there too. Thread-safe.
 */
final class DocumentVisibility implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DocumentVisibility.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** Longer than the admin client takes to fail. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

    private final Indexer indexer;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("documents-seen", stop, RetryPolicy.fixed(PERIOD), this::look, this::failed);
    private final Map<Integer, Progress> partitions = new HashMap<>();

    /** The feeder whose index the progress belongs to: readers of another index may see less. */
    private @Nullable IndexFeeder feed;

    private final FailureState unexpected = new FailureState();

    /** The end of a partition, and when the brokers were asked for it, by {@link System#nanoTime}. */
    private record End(long at, long offset) {}

    /**
     * How far readers see a partition.
     *
     * @param seen the last end that was reached
     * @param awaited the next one
     */
    private record Progress(@Nullable End seen, @Nullable End awaited) {
        Progress by(IndexFeeder feed, int partition) {
            return awaited != null && feed.seen().next(EntryKind.DOCUMENT, partition) >= awaited.offset()
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

    DocumentVisibility(Indexer indexer) {
        this.indexer = indexer;
    }

    void start() {
        thread.start();
    }

    private void look() throws Exception {
        if (indexer.endOffsets().last() == null) {
            return;
        }
        long at = System.nanoTime();
        observe(
                at,
                indexer.endOffsets()
                        .highWatermarks(EntryKind.DOCUMENT)
                        .toCompletableFuture()
                        .get(REQUEST_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS));
        unexpected.clear();
    }

    private void failed(Throwable thrown) {
        Throwable cause =
                thrown instanceof ExecutionException answer && answer.getCause() != null ? answer.getCause() : thrown;
        if (cause instanceof KafkaException || cause instanceof TimeoutException) {
            // EndOffsetMonitor asks the same brokers, and health shows its failure.
            log.debug("The brokers do not report the ends of {} for now", EntryKind.DOCUMENT.topic(), cause);
        } else if (unexpected.changeTo(cause.toString())) {
            log.error("The ends of {} cannot be asked for", EntryKind.DOCUMENT.topic(), cause);
        }
    }

    private synchronized void observe(long at, Map<Integer, Long> ends) {
        IndexFeeder now = feedOf(indexer.serving());
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

    private static @Nullable IndexFeeder feedOf(@Nullable ServingIndex served) {
        return served == null ? null : served.feed();
    }

    /**
     * Whether readers are known to see the document that was written together with a name's row, or that there is none.
     * They see the row.
     *
     * @param partition of the document
     */
    synchronized boolean areAsOfRow(Puri puri, int partition) {
        IndexFeeder now = feedOf(indexer.serving());
        Progress progress = partitions.get(partition);
        return now != null
                && now == feed
                && progress != null
                && progress.by(now, partition).isLaterThan(now.recentRows().writtenBefore(puri));
    }

    @Override
    public void close() {
        stop.ask();
        thread.interrupt();
    }
}
