package dev.puri.search;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import dev.puri.tail.Stop;
import dev.puri.tail.SupervisedThread;
import dev.puri.tail.SupervisedThread.Pauses;
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
    private static final Logger log = LoggerFactory.getLogger(DocumentsSeen.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);

    /** More than the brokers' view takes to fail by itself. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Indexer indexer;
    private final Stop stop = new Stop();
    private final SupervisedThread thread =
            new SupervisedThread("documents-seen", stop, Pauses.of(PERIOD), this::look, this::failed);
    private final Map<Integer, Progress> partitions = new HashMap<>();

    /** What feeds the index that this is of: another may see less. */
    private @Nullable Feed feed;

    /** The last failure of our own, so that one that repeats is logged once; empty after a success. Of its thread alone. */
    private String trouble = "";

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

    DocumentsSeen(Indexer indexer) {
        this.indexer = indexer;
    }

    void start() {
        thread.start();
    }

    private void look() throws Exception {
        if (indexer.watch().last() == null) {
            return;
        }
        long at = System.nanoTime();
        told(
                at,
                indexer.watch()
                        .endsOfAll(EntryKind.DOCUMENT)
                        .toCompletableFuture()
                        .get(PATIENCE.toNanos(), TimeUnit.NANOSECONDS));
        trouble = "";
    }

    private void failed(Throwable thrown) {
        Throwable cause =
                thrown instanceof ExecutionException answer && answer.getCause() != null ? answer.getCause() : thrown;
        if (cause instanceof KafkaException || cause instanceof TimeoutException) {
            // The watch of the topics asks the same brokers, and health shows its trouble.
            log.debug("The brokers do not tell the ends of {} for now", EntryKind.DOCUMENT.topic(), cause);
        } else if (!cause.toString().equals(trouble)) {
            trouble = cause.toString();
            log.error("The ends of {} cannot be asked for", EntryKind.DOCUMENT.topic(), cause);
        }
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
        stop.ask();
        thread.interrupt();
    }
}
