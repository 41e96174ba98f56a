package dev.puri.tail.wait;

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
 * Waits until the table has seen the event of a token.
 *
 * <pre>
 * was the event refused? ──▶ Refused     first, even if the row has changed since
 * is the row, or its absence, as of this event or a later one of its partition? ──▶ Seen
 * is exactly this event remembered as answered? ──▶ Seen
 * is there no row, and was the name erased before the start by this event or a later one? ──▶ Seen
 * otherwise wait for news of the name or the token, then look again ──▶ …
 * the wait is over: can the token be of this name? ──▶ NotCaughtUp, else Foreign
 * </pre>
 *
 * A request with a token that cannot be of its name waits too: the producer may have sent the event to the wrong
 * partition, and then its refusal is read later.
 *
 * A later event is a later one of the same name. The offset up to which a partition was read says nothing about one
 * event, because an event may be parked while events of other names overtake it.
 */
public final class ReadYourWrites {
    /** How long to wait for the rejection of an event that is known to be refused. */
    private static final Duration REJECTION_TIMEOUT = Duration.ofSeconds(1);

    private static final Duration[] BUCKETS = LongStream.of(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 30_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final Rows rows;
    private final OutcomeCache outcomes;
    private final Refusals refusals;
    private final Waiters waiters;
    private final IntSupplier partitions;
    private final Map<End, Timer> waits = new EnumMap<>(End.class);

    /** The rows that readers see. */
    public interface Rows {
        /**
         * The last event that a name's row shows; null when there is no row. Called once, at the start of a wait; may
         * block.
         */
        @Nullable
        Position lastOf(Puri puri);

        /**
         * The same for rows that changed recently. Called for each news during a wait, by threads that others depend
         * on, so it must not block.
         */
        default @Nullable Position lastRecentOf(Puri puri) {
            return lastOf(puri);
        }

        /** The bearer of a handle; null when none is known. Must not block. */
        @Nullable
        Puri bearer(Handle handle);

        /** Whether there are rows at all. Before, the absence of a row says nothing. */
        boolean areThere();
    }

    /** How a wait ended, as a tag of its meter. */
    private enum End {
        SEEN,
        REFUSED,
        FOREIGN,
        NOT_CAUGHT_UP,
        /** The client has gone. */
        GONE;

        static End of(@Nullable EventStatus seen, @Nullable Throwable failure) {
            return switch (failure == null ? seen : null) {
                case EventStatus.Seen news -> SEEN;
                case EventStatus.Refused refused -> REFUSED;
                case EventStatus.Foreign foreign -> FOREIGN;
                case EventStatus.NotCaughtUp late -> NOT_CAUGHT_UP;
                case null -> GONE;
            };
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * @param rows that readers see
     * @param partitions of the shared events topic
     */
    public ReadYourWrites(
            Rows rows,
            OutcomeCache outcomes,
            Refusals refusals,
            Waiters waiters,
            IntSupplier partitions,
            MeterRegistry meters) {
        this.rows = rows;
        this.outcomes = outcomes;
        this.refusals = refusals;
        this.waiters = waiters;
        this.partitions = partitions;
        refusals.onNews(waiters::wake);
        for (End end : End.values()) {
            waits.put(
                    end,
                    Timer.builder("puri.waits")
                            .description("Waits for events, by how they ended")
                            .tag("end", end.toString())
                            .serviceLevelObjectives(BUCKETS)
                            .register(meters));
        }
    }

    /**
     * Waits for an event of a name. Blocks as long as {@link Rows#lastOf} does. The future completes on any thread;
     * cancelling it ends the wait.
     *
     * @param caller the client, such as a connection; each may have so many waits
     * @param wait zero to look once
     * @throws Waiters.TooManyException when the event was not seen yet and there are too many waits
     */
    public CompletableFuture<EventStatus> await(Object caller, Puri puri, Position token, Duration wait)
            throws Waiters.TooManyException {
        EventStatus now = look(puri, token);
        if (now != null || !wait.isPositive()) {
            return detailed(now == null ? unseen(puri, token) : now).toCompletableFuture();
        }
        return answered(
                waiters.await(caller, puri, token, wait, () -> lookAgain(puri, token)), () -> unseen(puri, token));
    }

    /** Waits for an event of a handle's bearer, who may not be known yet. */
    public CompletableFuture<EventStatus> await(Object caller, Handle handle, Position token, Duration wait)
            throws Waiters.TooManyException {
        EventStatus now = look(handle, token, this::look);
        if (now != null || !wait.isPositive()) {
            return detailed(now == null ? unseen(rows.bearer(handle), token) : now)
                    .toCompletableFuture();
        }
        return answered(
                waiters.await(caller, null, token, wait, () -> look(handle, token, this::lookAgain)),
                () -> unseen(rows.bearer(handle), token));
    }

    private CompletableFuture<EventStatus> answered(
            CompletableFuture<@Nullable EventStatus> waiting, Supplier<EventStatus> unseen) {
        long begun = System.nanoTime();
        CompletableFuture<EventStatus> ended = waiting.thenApply(seen -> seen == null ? unseen.get() : seen);
        ended.whenComplete((seen, failure) -> Objects.requireNonNull(waits.get(End.of(seen, failure)))
                .record(System.nanoTime() - begun, TimeUnit.NANOSECONDS));
        CompletableFuture<EventStatus> answer = ended.thenCompose(this::detailed);
        answer.whenComplete((status, failure) -> {
            if (answer.isCancelled()) {
                waiting.cancel(false);
            }
        });
        return answer;
    }

    /** The first look, which asks for the row wherever it is; may block. */
    private @Nullable EventStatus look(Puri puri, Position token) {
        EventStatus refused = refused(puri, token);
        if (refused != null || !isLookedFor(puri, token)) {
            return refused;
        }
        Position row = rows.lastOf(puri);
        // Only this first look sees rows from before the start, so only here the absence of a row is certain.
        boolean isSeen = isSeen(puri, token, row) || row == null && isAsOf(token, refusals.lastErasureOf(puri));
        return isSeen ? EventStatus.Seen.INSTANCE : null;
    }

    /** Looks again, at rows that changed since the start; must not block. */
    private @Nullable EventStatus lookAgain(Puri puri, Position token) {
        EventStatus refused = refused(puri, token);
        if (refused != null || !isLookedFor(puri, token)) {
            return refused;
        }
        return isSeen(puri, token, rows.lastRecentOf(puri)) ? EventStatus.Seen.INSTANCE : null;
    }

    private boolean isLookedFor(Puri puri, Position token) {
        return rows.areThere() && Tokens.foreign(token, puri, partitions.getAsInt()) == null;
    }

    private boolean isSeen(Puri puri, Position token, @Nullable Position row) {
        return isAsOf(token, row == null ? outcomes.lastWithoutRow(puri) : row) || outcomes.isAnswered(puri, token);
    }

    private static boolean isAsOf(Position token, @Nullable Position last) {
        return last != null && Tokens.isAsOf(token, last);
    }

    private @Nullable EventStatus look(
            Handle handle, Position token, BiFunction<Puri, Position, @Nullable EventStatus> lookAtBearer) {
        EventStatus.Refused refused = refused(null, token);
        Puri bearer = rows.bearer(handle);
        // Without a matching bearer, the only refusal that concerns this handle is that it is taken.
        if (refused != null && (bearer == null || refused.reason() == Reason.HANDLE_TAKEN)) {
            return refused;
        }
        return bearer == null ? null : lookAtBearer.apply(bearer, token);
    }

    /**
     * The status of an event that was not seen.
     *
     * @param puri the name that the event should be of; null when not known
     */
    private EventStatus unseen(@Nullable Puri puri, Position token) {
        String foreign = puri == null ? null : Tokens.foreign(token, puri, partitions.getAsInt());
        return foreign == null ? new EventStatus.NotCaughtUp(token) : new EventStatus.Foreign(foreign);
    }

    /**
     * @param puri the name that the event must be of; null when not known
     */
    private EventStatus.@Nullable Refused refused(@Nullable Puri puri, Position token) {
        OutcomeCache.Refused cached = outcomes.refusalAt(token);
        if (cached != null && (puri == null || cached.puri().equals(puri))) {
            return new EventStatus.Refused(token, cached.reason(), refusals.at(token, puri));
        }
        Refusal refusal = cached == null ? refusals.at(token, puri) : null;
        return refusal == null ? null : new EventStatus.Refused(token, refusal.reason(), refusal);
    }

    /** Adds the details of a refusal: the table's topic has the reason alone, {@code puri.rejections.v1} the rest. */
    private CompletionStage<EventStatus> detailed(EventStatus status) {
        if (status instanceof EventStatus.Refused refused && refused.refusal() == null) {
            return refusals.soonAt(refused.at(), REJECTION_TIMEOUT)
                    .thenApply(refusal -> new EventStatus.Refused(refused.at(), refused.reason(), refusal));
        }
        return CompletableFuture.completedFuture(status);
    }
}
