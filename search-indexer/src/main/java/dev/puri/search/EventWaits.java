package dev.puri.search;

import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import dev.puri.tail.wait.EventStatus;
import dev.puri.tail.wait.ReadYourWrites;
import dev.puri.tail.wait.Tokens;
import dev.puri.tail.wait.Waiters;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Waits until searches know of an event:
 *
 * <pre>
 * its row is in the index ─┬─▶ and all documents that were written before the row
 *                          ├─▶ and the document of this event, or of a later one
 *                          └─▶ where does the partition of its document end now? ─▶ readers see all up to there
 * </pre>
 *
 * The registry writes row and document in one transaction. So once readers see the row, its document, if there is one,
 * is before the end of its partition. While other documents are written, readers do not reach that end at once; so
 * documents of a while ago are looked for first.
 */
final class EventWaits {
    private final Indexer indexer;
    private final IndexRows rows;
    private final ReadYourWrites writes;
    private final Waiters waiters;
    private final DocumentVisibility documents;

    EventWaits(Indexer indexer, IndexRows rows, ReadYourWrites writes, Waiters waiters, DocumentVisibility documents) {
        this.indexer = indexer;
        this.rows = rows;
        this.writes = writes;
        this.waiters = waiters;
        this.documents = documents;
    }

    /**
     * What became of an event, by the end of the wait. May block; completes on any thread; cancelling it ends
     * the wait.
     *
     * @param caller who asks, such as a connection
     * @throws Waiters.TooManyException when there is nothing to see yet and too many wait
     */
    CompletableFuture<EventStatus> await(Object caller, SearchRequest.Awaited event) throws Waiters.TooManyException {
        if (indexer.endOffsets().partitions(EntryKind.IDENTITY) == 0) {
            // The index serves from before the start, and the number of partitions is not known yet.
            return CompletableFuture.completedFuture(new EventStatus.NotCaughtUp(event.token()));
        }
        long end = System.nanoTime() + event.patience().toNanos();
        CompletableFuture<EventStatus> row;
        if (event.handle() == null) {
            row = writes.await(caller, puri(event), event.token(), event.patience());
        } else {
            rows.learn(event.handle());
            row = writes.await(caller, event.handle(), event.token(), event.patience());
        }
        // Whoever is answered later is so by a thread that everybody waits for.
        boolean mayAsk = row.isDone();
        AtomicReference<CompletableFuture<?>> underWay = new AtomicReference<>(row);
        CompletableFuture<EventStatus> answer = row.thenCompose(status -> {
            if (!(status instanceof EventStatus.Seen)) {
                return CompletableFuture.completedFuture(status);
            }
            CompletableFuture<EventStatus> document = document(caller, event, end, mayAsk);
            underWay.set(document);
            return document;
        });
        answer.whenComplete((status, failure) -> {
            if (answer.isCancelled()) {
                underWay.get().cancel(false);
            }
        });
        return answer;
    }

    private static Puri puri(SearchRequest.Awaited event) {
        Puri puri = event.puri();
        if (puri == null) {
            throw new IllegalStateException("named by its handle");
        }
        return puri;
    }

    /**
     * @param mayAsk whether the engine may be asked, which may block
     */
    private CompletableFuture<EventStatus> document(
            Object caller, SearchRequest.Awaited event, long end, boolean mayAsk) {
        EventStatus late = new EventStatus.NotCaughtUp(event.token());
        Puri puri = event.handle() == null ? event.puri() : rows.bearer(event.handle());
        int partitions = indexer.endOffsets().partitions(EntryKind.DOCUMENT);
        if (puri == null || partitions == 0) {
            return CompletableFuture.completedFuture(late);
        }
        int partition = Tokens.partition(puri, partitions);
        if (documents.areAsOfRow(puri, partition) || mayAsk && rows.isDocumentAsOf(event.token(), puri)) {
            return CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);
        }
        return indexer.endOffsets()
                .highWatermarks(EntryKind.DOCUMENT)
                .toCompletableFuture()
                .thenCompose(ends -> seen(
                        caller,
                        partition,
                        Objects.requireNonNull(ends.get(partition)),
                        Duration.ofNanos(end - System.nanoTime())))
                .exceptionally(failure -> null)
                .thenApply(seen -> seen == null ? late : seen);
    }

    private CompletableFuture<@Nullable EventStatus> seen(Object caller, int partition, long offset, Duration wait) {
        try {
            return waiters.await(
                    caller,
                    null,
                    null,
                    wait.isNegative() ? Duration.ZERO : wait,
                    () -> indexer.seen().next(EntryKind.DOCUMENT, partition) >= offset
                            ? EventStatus.Seen.INSTANCE
                            : null);
        } catch (Waiters.TooManyException e) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
