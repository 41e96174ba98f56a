package dev.puri.projection.wait;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Lets a request wait until readers can see the result of the event of a token. Each check decides in this order:
 *
 * <pre>
 * was the event refused? ──▶ Refused     first, even if the row has changed since
 * is the position of the row, or of the last event without a row, at or after the token? ──▶ Seen
 * is exactly this event cached as decided? ──▶ Seen
 * is there no row, and was the name erased before this server's start, at or after the token? ──▶ Seen
 * otherwise wait for a change of the name or an outcome of the token, then check again ──▶ …
 * the wait is over: can the token belong to this name? ──▶ NotCaughtUp, else Foreign
 * </pre>
 *
 * A request also waits if its token cannot belong to its name: the producer may have sent the event to the wrong
 * partition, and the refusal of that event is read later.
 *
 * <p>Only positions of events of the same name are compared. The offset up to which a partition was read says nothing
 * about one event, because an event may be parked while events of other names overtake it.
 */
public final class ReadYourWrites {
    /** The maximum wait for the details of a refusal after the event is known to be refused. */
    private static final Duration REJECTION_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration[] BUCKETS = LongStream.of(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 30_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final Rows rows;
    private final OutcomeCache outcomes;
    private final Refusals refusals;
    private final Waiters waiters;
    private final IntSupplier partitionCount;
    private final Map<End, Timer> waitTimers = new EnumMap<>(End.class);

    /** The rows that readers see. */
    public interface Rows {
        /**
         * Returns the position of the last event that a name's row shows; null if there is no row. Called once, at the
         * start of a wait. May block.
         */
        @Nullable
        Position lastEventOf(Puri puri);

        /**
         * Returns the same, but may return null for rows that have not changed recently. Called for each change during
         * a wait, by threads that other work depends on, so it must not block.
         */
        default @Nullable Position lastRecentOf(Puri puri) {
            return lastEventOf(puri);
        }

        /** Returns the name of the identity that has a handle; null if none is known. Must not block. */
        @Nullable
        Puri puriOf(Handle handle);

        /** Returns whether a table serves reads. Before that, the absence of a row says nothing. */
        boolean isServing();
    }

    /** How a wait ended; a tag of its meter. */
    private enum End {
        SEEN,
        REFUSED,
        FOREIGN,
        NOT_CAUGHT_UP,
        /** The client cancelled the wait. */
        GONE;

        static End of(@Nullable EventStatus status, @Nullable Throwable failure) {
            return switch (failure == null ? status : null) {
                case EventStatus.Seen seen -> SEEN;
                case EventStatus.Refused refused -> REFUSED;
                case EventStatus.Foreign foreign -> FOREIGN;
                case EventStatus.NotCaughtUp pending -> NOT_CAUGHT_UP;
                case null -> GONE;
            };
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * @param rows the rows that readers see
     * @param partitionCount the number of partitions of the shared events topic
     */
    public ReadYourWrites(
            Rows rows,
            OutcomeCache outcomes,
            Refusals refusals,
            Waiters waiters,
            IntSupplier partitionCount,
            MeterRegistry meters) {
        this.rows = rows;
        this.outcomes = outcomes;
        this.refusals = refusals;
        this.waiters = waiters;
        this.partitionCount = partitionCount;
        refusals.setListener(waiters::wake);
        for (End end : End.values()) {
            waitTimers.put(
                    end,
                    Timer.builder("puri.waits")
                            .description("Waits for events, by how they ended")
                            .tag("end", end.toString())
                            .serviceLevelObjectives(BUCKETS)
                            .register(meters));
        }
    }

    /**
     * Waits for an event of a name. Blocks as long as {@link Rows#lastEventOf} does. The future completes on any
     * thread; cancelling it ends the wait.
     *
     * @param caller the client, such as a connection; the number of waits of each caller is limited
     * @param wait the maximum wait; zero to check once
     * @throws Waiters.TooManyException if the request would have to wait and a limit of waits is reached
     */
    public CompletableFuture<EventStatus> await(Object caller, Puri puri, Position token, Duration wait)
            throws Waiters.TooManyException {
        EventStatus status = checkFirst(puri, token);
        if (status != null || !wait.isPositive()) {
            return withDetails(status == null ? statusAfterWait(puri, token) : status)
                    .toCompletableFuture();
        }
        return finish(
                waiters.await(caller, puri, token, wait, () -> checkAgain(puri, token)),
                () -> statusAfterWait(puri, token));
    }

    /** Waits for an event of the identity that has a handle. The identity may not be known yet. */
    public CompletableFuture<EventStatus> await(Object caller, Handle handle, Position token, Duration wait)
            throws Waiters.TooManyException {
        EventStatus status = checkHandle(handle, token, this::checkFirst);
        if (status != null || !wait.isPositive()) {
            return withDetails(status == null ? statusAfterWait(rows.puriOf(handle), token) : status)
                    .toCompletableFuture();
        }
        return finish(
                waiters.await(caller, null, token, wait, () -> checkHandle(handle, token, this::checkAgain)),
                () -> statusAfterWait(rows.puriOf(handle), token));
    }

    /** Completes a wait: times it, supplies the status of a wait that timed out, and adds the details of a refusal. */
    private CompletableFuture<EventStatus> finish(
            CompletableFuture<@Nullable EventStatus> wait, Supplier<EventStatus> statusAfterWait) {
        long startedAtNanos = System.nanoTime();
        CompletableFuture<EventStatus> ended =
                wait.thenApply(status -> status == null ? statusAfterWait.get() : status);
        ended.whenComplete((status, failure) -> Objects.requireNonNull(waitTimers.get(End.of(status, failure)))
                .record(System.nanoTime() - startedAtNanos, TimeUnit.NANOSECONDS));
        CompletableFuture<EventStatus> result = ended.thenCompose(this::withDetails);
        result.whenComplete((status, failure) -> {
            if (result.isCancelled()) {
                wait.cancel(false);
            }
        });
        return result;
    }

    /** The first check. It also finds rows that have not changed since the start; may block. */
    private @Nullable EventStatus checkFirst(Puri puri, Position token) {
        EventStatus refused = findRefused(puri, token);
        if (refused != null || !canRowsShow(puri, token)) {
            return refused;
        }
        Position row = rows.lastEventOf(puri);
        // Only the first check sees rows from before the start, so only here the absence of a row is certain.
        boolean isSeen = isSeen(puri, token, row) || row == null && isAsOf(token, refusals.lastEventWithoutRow(puri));
        return isSeen ? EventStatus.Seen.INSTANCE : null;
    }

    /** A later check. It sees rows that changed since the start; must not block. */
    private @Nullable EventStatus checkAgain(Puri puri, Position token) {
        EventStatus refused = findRefused(puri, token);
        if (refused != null || !canRowsShow(puri, token)) {
            return refused;
        }
        return isSeen(puri, token, rows.lastRecentOf(puri)) ? EventStatus.Seen.INSTANCE : null;
    }

    private boolean canRowsShow(Puri puri, Position token) {
        return rows.isServing() && Tokens.explainForeign(token, puri, partitionCount.getAsInt()) == null;
    }

    private boolean isSeen(Puri puri, Position token, @Nullable Position row) {
        return isAsOf(token, row == null ? outcomes.lastEventWithoutRow(puri) : row) || outcomes.isDecided(puri, token);
    }

    private static boolean isAsOf(Position token, @Nullable Position last) {
        return last != null && Tokens.isAsOf(token, last);
    }

    private @Nullable EventStatus checkHandle(
            Handle handle, Position token, BiFunction<Puri, Position, @Nullable EventStatus> checkPuri) {
        EventStatus.Refused refused = findRefused(null, token);
        Puri puri = rows.puriOf(handle);
        // If an identity has the handle, other refusals count only if they are of that identity; checkPuri finds them.
        if (refused != null && (puri == null || refused.reason() == Reason.HANDLE_TAKEN)) {
            return refused;
        }
        return puri == null ? null : checkPuri.apply(puri, token);
    }

    /**
     * Returns the status of an event whose result was not seen by the end of the wait.
     *
     * @param puri the name that the event should have; null if not known
     */
    private EventStatus statusAfterWait(@Nullable Puri puri, Position token) {
        String foreign = puri == null ? null : Tokens.explainForeign(token, puri, partitionCount.getAsInt());
        return foreign == null ? new EventStatus.NotCaughtUp(token) : new EventStatus.Foreign(foreign);
    }

    /**
     * @param puri the name that the event must have; null for any
     */
    private EventStatus.@Nullable Refused findRefused(@Nullable Puri puri, Position token) {
        OutcomeCache.CachedRefusal cached = outcomes.refusalAt(token);
        if (cached != null && (puri == null || cached.puri().equals(puri))) {
            return new EventStatus.Refused(token, cached.reason(), refusals.at(token, puri));
        }
        Refusal refusal = cached == null ? refusals.at(token, puri) : null;
        return refusal == null ? null : new EventStatus.Refused(token, refusal.reason(), refusal);
    }

    /**
     * Adds the details of a refusal. The table's topic has only the reason; {@code puri.rejections.v1} has the details.
     */
    private CompletionStage<EventStatus> withDetails(EventStatus status) {
        if (status instanceof EventStatus.Refused refused && refused.refusal() == null) {
            return refusals.awaitAt(refused.at(), REJECTION_TIMEOUT)
                    .thenApply(refusal -> new EventStatus.Refused(refused.at(), refused.reason(), refusal));
        }
        return CompletableFuture.completedFuture(status);
    }
}
