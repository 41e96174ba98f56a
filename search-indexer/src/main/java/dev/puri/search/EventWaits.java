package dev.puri.search;

import dev.puri.projection.wait.EventStatus;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.Tokens;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Waits until searches see the result of an event:
 *
 * <pre>
 * wait until readers see the row ─▶ is the document visible for certain?  ─ yes ─▶ seen
 *                                                  │ no
 *         ask the brokers for the end offset of the document's partition ─▶ wait until readers see it ─▶ seen
 * </pre>
 *
 * The registry writes row and document in one transaction. So when readers see the row, the document, if there is one,
 * is before the end of its partition. During steady writes, readers do not reach this end soon. So
 * {@link IndexFeeder#isDocumentVisible} and the indexed document are checked first.
 */
final class EventWaits {
    /** The current wait of a request that was cancelled, so that the next wait ends at once. */
    private static final CompletableFuture<?> CANCELLED = new CompletableFuture<>();

    /** The minimum timeout of a request to the brokers, so that an event is also seen without a wait. */
    private static final Duration MIN_BROKER_TIMEOUT = Duration.ofMillis(500);

    private final Indexer indexer;
    private final IndexRows rows;
    private final ReadYourWrites rowWaits;
    private final Waiters waiters;

    EventWaits(Indexer indexer, IndexRows rows, ReadYourWrites rowWaits, Waiters waiters) {
        this.indexer = indexer;
        this.rows = rows;
        this.rowWaits = rowWaits;
        this.waiters = waiters;
    }

    /**
     * Waits for an event and returns its status at the end of the wait. The call may block; the future completes on any
     * thread; cancelling it ends the wait.
     *
     * @param caller the client, such as its connection, whose number of waits is limited
     * @throws Waiters.TooManyException if the event must be waited for and there are too many waits
     */
    CompletableFuture<EventStatus> await(Object caller, SearchRequest.AwaitedEvent event)
            throws Waiters.TooManyException {
        if (indexer.endOffsets().partitions(EntryKind.IDENTITY) == 0) {
            // The index of the previous process serves already, but the number of partitions is not known yet.
            return CompletableFuture.completedFuture(new EventStatus.NotCaughtUp(event.token()));
        }
        long deadlineNanos = System.nanoTime() + event.maxWait().toNanos();
        CompletableFuture<EventStatus> rowStatus;
        if (event.handle() == null) {
            rowStatus = rowWaits.await(caller, puri(event), event.token(), event.maxWait());
        } else {
            rows.cachePuriOf(event.handle());
            rowStatus = rowWaits.await(caller, event.handle(), event.token(), event.maxWait());
        }
        // A wait that ends later continues on the indexer's thread or the timer's, which must not block.
        boolean mayBlock = rowStatus.isDone();
        AtomicReference<CompletableFuture<?>> currentWait = new AtomicReference<>(rowStatus);
        CompletableFuture<EventStatus> result = rowStatus.thenCompose(status -> status instanceof EventStatus.Seen
                ? awaitDocument(caller, event, deadlineNanos, mayBlock, currentWait)
                : CompletableFuture.completedFuture(status));
        result.whenComplete((status, failure) -> {
            if (result.isCancelled()) {
                currentWait.getAndSet(CANCELLED).cancel(false);
            }
        });
        return result;
    }

    private static Puri puri(SearchRequest.AwaitedEvent event) {
        Puri puri = event.puri();
        if (puri == null) {
            throw new IllegalStateException("the event has neither pURI nor handle");
        }
        return puri;
    }

    /**
     * Waits for the document of an event whose row is visible.
     *
     * @param mayBlock whether the engine may be asked, which may block
     * @param currentWait set to the wait that ends when the request is cancelled; {@link #CANCELLED} if it was
     *     cancelled
     */
    private CompletableFuture<EventStatus> awaitDocument(
            Object caller,
            SearchRequest.AwaitedEvent event,
            long deadlineNanos,
            boolean mayBlock,
            AtomicReference<CompletableFuture<?>> currentWait) {
        EventStatus notCaughtUp = new EventStatus.NotCaughtUp(event.token());
        Puri puri = event.handle() == null ? event.puri() : rows.puriOf(event.handle());
        int partitions = indexer.endOffsets().partitions(EntryKind.DOCUMENT);
        if (puri == null || partitions == 0) {
            return CompletableFuture.completedFuture(notCaughtUp);
        }
        int partition = Tokens.partition(puri, partitions);
        IndexFeeder feeder = indexer.servingFeeder();
        if (feeder != null && feeder.isDocumentVisible(puri) || mayBlock && rows.isDocumentAsOf(event.token(), puri)) {
            return CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);
        }
        long timeoutNanos = Math.max(deadlineNanos - System.nanoTime(), MIN_BROKER_TIMEOUT.toNanos());
        return indexer.endOffsets()
                .documentHighWatermarks()
                .orTimeout(timeoutNanos, TimeUnit.NANOSECONDS)
                .thenCompose(ends -> awaitOffset(
                        caller,
                        partition,
                        Objects.requireNonNull(ends.get(partition)),
                        Duration.ofNanos(deadlineNanos - System.nanoTime()),
                        currentWait))
                .exceptionally(failure -> null)
                .thenApply(status -> status == null ? notCaughtUp : status);
    }

    /** Waits until readers see all documents of a partition before an offset; null if they do not in time. */
    private CompletableFuture<@Nullable EventStatus> awaitOffset(
            Object caller,
            int partition,
            long offset,
            Duration maxWait,
            AtomicReference<CompletableFuture<?>> currentWait) {
        try {
            CompletableFuture<@Nullable EventStatus> wait = waiters.await(
                    caller,
                    null,
                    null,
                    maxWait,
                    () -> indexer.visibleOffsets().nextOffset(EntryKind.DOCUMENT, partition) >= offset
                            ? EventStatus.Seen.INSTANCE
                            : null);
            if (currentWait.getAndSet(wait) == CANCELLED) {
                wait.cancel(false);
            }
            return wait;
        } catch (Waiters.TooManyException e) {
            return CompletableFuture.completedFuture(null);
        }
    }
}
