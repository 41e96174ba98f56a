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
 * Whether the table has seen the event that a token stands for.
 *
 * <pre>
 * was it refused? ──▶ Refused     the exact token first, even if the row has gone on since
 * is the row, or the lack of one, as of this event or a later one of its partition? ──▶ Seen
 * is it remembered that exactly this event was answered? ──▶ Seen
 * is there no row, and was the name erased before the start by this event or a later one? ──▶ Seen
 * otherwise wait for news of the name or the token and look again ──▶ …
 * the wait is over: can the token be of this name? ──▶ NotCaughtUp, else Foreign
 * </pre>
 *
 * A token that cannot be of this name is waited for all the same: it may be of an event that its producer put into the
 * wrong partition, and then the refusal says so.
 *
 * Later means later for this name. How far a partition was read tells nothing: an event may be parked
 * and overtaken by those of other names.
 */
public final class ReadYourWrites {
    /** How long the rejection of an event that is known to be refused is waited for. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Duration[] BUCKETS = LongStream.of(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 30_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final Rows rows;
    private final OutcomeCache outcomes;
    private final Refusals refusals;
    private final Waiters waiters;
    private final IntSupplier partitions;
    private final Map<End, Timer> waits = new EnumMap<>(End.class);

    /** What is asked once an event was seen, as far as it was written. */
    public interface Rows {
        /**
         * The last event that a name's row was heard of with; null when there is no row. Asked once, by whoever
         * begins to wait.
         */
        @Nullable
        Position lastOf(Puri puri);

        /**
         * The same as far as that has come since; asked again and again, by the threads that everybody waits for,
         * so it must not block.
         */
        default @Nullable Position lastHeardOf(Puri puri) {
            return lastOf(puri);
        }

        /** Who bears a handle; null when nobody is known to. Must not block. */
        @Nullable
        Puri bearer(Handle handle);

        /** Whether there is anything to ask. Before there is, a name without a row was not heard of. */
        boolean areThere();
    }

    /** How a wait ended, for the meters. */
    private enum End {
        SEEN,
        REFUSED,
        FOREIGN,
        NOT_CAUGHT_UP,
        /** Whoever waited has gone. */
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
     * @param rows what answers
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
     * What became of a name's event, by the end of the wait. Blocks as long as {@link Rows#lastOf} does;
     * completes on any thread; cancelling it ends the wait.
     *
     * @param caller who asks, such as a connection; too many waits of one are refused
     * @param wait zero to look once
     * @throws Waiters.TooManyException when there is nothing to see yet and too many wait
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

    /** The same of a handle's bearer, who may not be known yet. */
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

    private CompletableFuture<EventStatus> answered(CompletableFuture<@Nullable EventStatus> waiting, Supplier<EventStatus> unseen) {
        long begun = System.nanoTime();
        CompletableFuture<EventStatus> ended = waiting.thenApply(seen -> seen == null ? unseen.get() : seen);
        ended.whenComplete((seen, failure) -> Objects.requireNonNull(waits.get(End.of(seen, failure)))
                .record(System.nanoTime() - begun, TimeUnit.NANOSECONDS));
        CompletableFuture<EventStatus> answer = ended.thenCompose(this::detailed);
        answer.whenComplete((sight, failure) -> {
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
        // Only here is it known that there is no row: later looks do not see those from before the start.
        boolean isSeen = isSeen(puri, token, row) || row == null && isAsOf(token, refusals.lastErasureOf(puri));
        return isSeen ? EventStatus.Seen.INSTANCE : null;
    }

    /** Looks again at what was read since the start; must not block. */
    private @Nullable EventStatus lookAgain(Puri puri, Position token) {
        EventStatus refused = refused(puri, token);
        if (refused != null || !isLookedFor(puri, token)) {
            return refused;
        }
        return isSeen(puri, token, rows.lastHeardOf(puri)) ? EventStatus.Seen.INSTANCE : null;
    }

    private boolean isLookedFor(Puri puri, Position token) {
        return rows.areThere() && Tokens.foreign(token, puri, partitions.getAsInt()) == null;
    }

    private boolean isSeen(Puri puri, Position token, @Nullable Position row) {
        return isAsOf(token, row == null ? outcomes.lastWithoutRow(puri) : row) || outcomes.isAnswered(puri, token);
    }

    private static boolean isAsOf(Position token, @Nullable Position heard) {
        return heard != null && Tokens.isAsOf(token, heard);
    }

    private @Nullable EventStatus look(
            Handle handle, Position token, BiFunction<Puri, Position, @Nullable EventStatus> lookAtBearer) {
        EventStatus.Refused refused = refused(null, token);
        Puri bearer = rows.bearer(handle);
        // Of another's event it is told here only that it may not have this handle.
        if (refused != null && (bearer == null || refused.reason() == Reason.HANDLE_TAKEN)) {
            return refused;
        }
        return bearer == null ? null : lookAtBearer.apply(bearer, token);
    }

    /**
     * What there is to say of an event of which nothing was seen.
     *
     * @param puri whose event it is to be; null when that is not known
     */
    private EventStatus unseen(@Nullable Puri puri, Position token) {
        String foreign = puri == null ? null : Tokens.foreign(token, puri, partitions.getAsInt());
        return foreign == null ? new EventStatus.NotCaughtUp(token) : new EventStatus.Foreign(foreign);
    }

    /**
     * @param puri whose event it has to be; null when that is not known
     */
    private EventStatus.@Nullable Refused refused(@Nullable Puri puri, Position token) {
        OutcomeCache.Refused told = outcomes.refusalAt(token);
        if (told != null && (puri == null || told.puri().equals(puri))) {
            return new EventStatus.Refused(token, told.reason(), refusals.at(token, puri));
        }
        Refusal refusal = told == null ? refusals.at(token, puri) : null;
        return refusal == null ? null : new EventStatus.Refused(token, refusal.reason(), refusal);
    }

    /** The table's topic tells of a refusal without its circumstances, which stand in another. */
    private CompletionStage<EventStatus> detailed(EventStatus sight) {
        if (sight instanceof EventStatus.Refused refused && refused.refusal() == null) {
            return refusals.soonAt(refused.at(), PATIENCE)
                    .thenApply(refusal -> new EventStatus.Refused(refused.at(), refused.reason(), refusal));
        }
        return CompletableFuture.completedFuture(sight);
    }
}
