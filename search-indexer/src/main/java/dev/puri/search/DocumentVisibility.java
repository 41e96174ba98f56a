package dev.puri.search;

import dev.puri.projection.FailureState;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.Stop;
import dev.puri.projection.SupervisedThread;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
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
 * Tracks, for each partition of the documents' topic, the latest known time T such that readers see all documents that
 * were written before T. With this time, a wait for an older document need not ask the brokers. This works also during
 * steady writes, when readers never reach the current end of the partition:
 *
 * <pre>
 * 12:00:00 ask the brokers: the partition ends at 70
 * 12:00:02 readers see the offsets below 70: all documents written before 12:00:00 are visible; ask again
 * </pre>
 *
 * The ends are high watermarks, not last stable offsets: when readers see a row, the document of the same transaction
 * may still be after the last stable offset of its partition. A new end replaces a pending one only after readers have
 * reached it, so this also progresses if the lag is large. Thread-safe.
 */
final class DocumentVisibility implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(DocumentVisibility.class);
    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

    /** Longer than the time-outs of the admin client. */
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);

    private final Indexer indexer;
    private final Stop stop = new Stop();
    private final SupervisedThread thread = new SupervisedThread(
            "documents-seen", stop, RetryPolicy.fixed(POLL_INTERVAL), this::askBrokers, this::onFailure);
    /** Guarded by this. */
    private final Map<Integer, Progress> progressByPartition = new HashMap<>();

    /** The feeder of the index that the progress belongs to; readers of another index may see less. */
    private @Nullable IndexFeeder observedFeeder;

    private final FailureState unexpectedFailure = new FailureState();

    /** The end of a partition, and the time of the request for it, by {@link System#nanoTime}. */
    private record ObservedEnd(long askedAtNanos, long offset) {}

    /**
     * The offset up to which readers see a partition.
     *
     * @param reachedEnd the last end that readers have reached; null before the first
     * @param pendingEnd an end that readers have not reached yet; null if there is none
     */
    private record Progress(
            @Nullable ObservedEnd reachedEnd, @Nullable ObservedEnd pendingEnd) {
        Progress advancedBy(IndexFeeder feeder, int partition) {
            return pendingEnd != null
                            && feeder.visibleOffsets().nextOffset(EntryKind.DOCUMENT, partition) >= pendingEnd.offset()
                    ? new Progress(pendingEnd, null)
                    : this;
        }

        Progress awaiting(ObservedEnd end) {
            return pendingEnd == null ? new Progress(reachedEnd, end) : this;
        }

        /** Whether readers see all documents that were written before a time. */
        boolean includesAllBefore(long nanos) {
            return reachedEnd != null && reachedEnd.askedAtNanos() - nanos >= 0;
        }
    }

    DocumentVisibility(Indexer indexer) {
        this.indexer = indexer;
    }

    void start() {
        thread.start();
    }

    private void askBrokers() throws Exception {
        if (indexer.endOffsets().lastOffsets() == null) {
            return;
        }
        long askedAtNanos = System.nanoTime();
        observe(
                askedAtNanos,
                indexer.endOffsets()
                        .highWatermarks(EntryKind.DOCUMENT)
                        .toCompletableFuture()
                        .get(REQUEST_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS));
        unexpectedFailure.clear();
    }

    private void onFailure(Throwable failure) {
        Throwable cause =
                failure instanceof ExecutionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof KafkaException || cause instanceof TimeoutException) {
            // Health shows the failure of EndOffsetMonitor, which asks the same brokers.
            log.debug("The brokers do not report the end offsets of {} now", EntryKind.DOCUMENT.topic(), cause);
        } else if (unexpectedFailure.changeTo(cause.toString())) {
            log.error("Requesting the end offsets of {} failed; will retry", EntryKind.DOCUMENT.topic(), cause);
        }
    }

    private synchronized void observe(long askedAtNanos, Map<Integer, Long> ends) {
        IndexFeeder servingFeeder = feederOf(indexer.serving());
        if (servingFeeder != observedFeeder) {
            progressByPartition.clear();
            observedFeeder = servingFeeder;
        }
        if (servingFeeder != null) {
            ends.forEach((partition, offset) -> progressByPartition.compute(
                    partition,
                    (same, progress) -> (progress == null ? new Progress(null, null) : progress)
                            .advancedBy(servingFeeder, partition)
                            .awaiting(new ObservedEnd(askedAtNanos, offset))));
        }
    }

    private static @Nullable IndexFeeder feederOf(@Nullable ServingIndex serving) {
        return serving == null ? null : serving.feeder();
    }

    /**
     * Whether readers certainly see the document that was written in the same transaction as a visible row. Also true
     * if the transaction wrote no document.
     *
     * @param partition the partition of the document
     */
    synchronized boolean isDocumentVisible(Puri puri, int partition) {
        IndexFeeder servingFeeder = feederOf(indexer.serving());
        Progress progress = progressByPartition.get(partition);
        return servingFeeder != null
                && servingFeeder == observedFeeder
                && progress != null
                && progress.advancedBy(servingFeeder, partition)
                        .includesAllBefore(servingFeeder.recentRows().writtenBeforeNanos(puri));
    }

    @Override
    public void close() {
        stop.request();
        thread.interrupt();
    }
}
