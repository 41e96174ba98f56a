package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.projection.wait.EventStatus;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.WaitParameters;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.answer.InternalResultWriter;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.answer.ThreadBuffers;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Handles look-ups of one reference or of a batch. The result of a reference with a token is written when the table has
 * the event of the token, or when the time to wait has passed.
 */
final class LookUps {
    static final ProblemType NOT_READY = new ProblemType("not-ready", "The table is not complete yet", 503);

    private final Supplier<@Nullable Table> tables;
    private final Supplier<String> waitReason;
    private final Supplier<Declarations> declarations;
    private final ReadYourWrites readYourWrites;
    private final Limits limits;
    private final VerdictCounters singleCounters;
    private final VerdictCounters batchCounters;

    /**
     * @param maxRefs maximum number of references in a batch
     * @param waits the parameters of a wait, and their limit
     */
    record Limits(int maxRefs, WaitParameters waits) {}

    /**
     * @param tables supplies the serving table; null before the first table is complete
     * @param waitReason supplies the reason, for people, why no table is complete
     * @param declarations supplies the declarations that this resolver has read; called for each request
     */
    LookUps(
            Supplier<@Nullable Table> tables,
            Supplier<String> waitReason,
            Supplier<Declarations> declarations,
            ReadYourWrites readYourWrites,
            Limits limits,
            MeterRegistry meters) {
        this.tables = tables;
        this.waitReason = waitReason;
        this.declarations = declarations;
        this.readYourWrites = readYourWrites;
        this.limits = limits;
        singleCounters = new VerdictCounters("internal", "/v1/identities/{ref}", meters);
        batchCounters = new VerdictCounters("internal", "/v1/resolve", meters);
    }

    void answerOne(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            notReady(exchange);
            return;
        }
        String ref = PathRef.decode(exchange.parameter());
        String at = exchange.query("at");
        try {
            Duration maxWait = maxWait(exchange);
            if (at == null) {
                if (exchange.query("wait") != null) {
                    throw new RefusedException(
                            ProblemType.INVALID_PARAMETER,
                            "The parameter wait needs the parameter at, whose event it waits for.");
                }
                answer(exchange, ref, EventStatus.Seen.INSTANCE);
                return;
            }
            Position token = WaitParameters.parseToken(at);
            whenDone(exchange, eventStatus(exchange, ref, token, maxWait), status -> {
                if (status instanceof EventStatus.Foreign foreign) {
                    exchange.problem(Problem.of(WaitParameters.FOREIGN_TOKEN, Problem.sentence(foreign.detail())));
                } else {
                    answer(exchange, ref, status);
                }
            });
        } catch (RefusedException e) {
            exchange.problem(e.problem());
        } catch (Waiters.TooManyException e) {
            tooManyWaiters(exchange, e);
        }
    }

    private void answer(Exchange exchange, String ref, EventStatus status) {
        JsonOut out = ThreadBuffers.ofThread().emptyOut();
        Verdict verdict = writer(servingTable(), out, false).write(ref, status);
        singleCounters.add(verdict, 1);
        exchange.json(verdict.status(), out.bytes(), out.length());
    }

    void answerBatch(Exchange exchange) {
        exchange.readBody(body -> {
            try {
                PlainBatch plain = ThreadBuffers.ofThread().batch();
                // Null if the body has the plain form.
                ResolveRequest request =
                        plain.read(body, limits.maxRefs) ? null : ResolveRequest.parse(body, limits.maxRefs);
                Table table = tables.get();
                if (table == null) {
                    notReady(exchange);
                    return;
                }
                Duration maxWait = maxWait(exchange);
                if (request == null) {
                    answer(exchange, table, plain);
                } else {
                    answerAfterWaits(exchange, request, maxWait);
                }
            } catch (RefusedException e) {
                exchange.problem(e.problem());
            }
        });
    }

    /** Answers a batch without tokens, and so without waits. */
    private void answer(Exchange exchange, Table table, PlainBatch plain) {
        JsonOut out = ThreadBuffers.ofThread().emptyOut();
        batchCounters.add(plain.write(writer(table, out, plain.byShard())));
        exchange.json(200, out.bytes(), out.length());
    }

    /** Answers a batch when the waits of all its references have ended. */
    private void answerAfterWaits(Exchange exchange, ResolveRequest request, Duration maxWait) {
        List<CompletableFuture<EventStatus>> statuses =
                new ArrayList<>(request.refs().size());
        boolean mustWait = false;
        try {
            for (ResolveRequest.Ref ref : request.refs()) {
                CompletableFuture<EventStatus> status =
                        ref.at() == null ? NO_EVENT : eventStatus(exchange, ref, maxWait);
                mustWait |= !status.isDone();
                statuses.add(status);
            }
        } catch (Waiters.TooManyException e) {
            statuses.forEach(LookUps::cancel);
            tooManyWaiters(exchange, e);
            return;
        }
        if (!mustWait) {
            answer(exchange, request, statuses);
            return;
        }
        CompletableFuture<Void> allDone = CompletableFuture.allOf(statuses.toArray(CompletableFuture[]::new));
        exchange.onCancel(() -> statuses.forEach(LookUps::cancel));
        allDone.whenComplete((nothing, failure) -> exchange.runOnEventLoop(() -> {
            if (!exchange.isOver()) {
                answer(exchange, request, statuses);
            }
        }));
    }

    /** The status of a reference without a token: the look-up takes place at once. */
    private static final CompletableFuture<EventStatus> NO_EVENT =
            CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);

    private CompletableFuture<EventStatus> eventStatus(Exchange exchange, ResolveRequest.Ref ref, Duration maxWait)
            throws Waiters.TooManyException {
        try {
            return eventStatus(
                    exchange, ref.ref(), WaitParameters.parseToken(Objects.requireNonNull(ref.at())), maxWait);
        } catch (RefusedException e) {
            // An invalid token concerns only its own reference, like an invalid reference.
            return CompletableFuture.completedFuture(new EventStatus.Foreign(String.valueOf(e.getMessage())));
        }
    }

    private void answer(Exchange exchange, ResolveRequest request, List<CompletableFuture<EventStatus>> statuses) {
        JsonOut out = ThreadBuffers.ofThread().emptyOut();
        InternalResultWriter answer = writer(servingTable(), out, request.byShard());
        answer.beginBatch();
        for (int i = 0; i < statuses.size(); i++) {
            batchCounters.add(
                    answer.write(request.refs().get(i).ref(), statuses.get(i).join()), 1);
        }
        answer.endBatch();
        exchange.json(200, out.bytes(), out.length());
    }

    private InternalResultWriter writer(Table table, JsonOut out, boolean byShard) {
        return new InternalResultWriter(table, declarations.get(), out, byShard);
    }

    /** Returns the serving table; called only after there is one, because then there always is one. */
    private Table servingTable() {
        return Objects.requireNonNull(tables.get());
    }

    /**
     * Waits for the event of a token. Completes with {@code Seen} at once if the reference is malformed, because the
     * look-up reports that.
     */
    private CompletableFuture<EventStatus> eventStatus(Exchange exchange, String ref, Position token, Duration maxWait)
            throws Waiters.TooManyException {
        try {
            return Handle.looksLike(ref)
                    ? readYourWrites.await(exchange.connection(), Handle.parse(ref), token, maxWait)
                    : readYourWrites.await(exchange.connection(), Puri.parse(ref), token, maxWait);
        } catch (InvalidNameException e) {
            return CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);
        }
    }

    private Duration maxWait(Exchange exchange) throws RefusedException {
        return limits.waits().parseWait(exchange.query("wait"));
    }

    private void whenDone(Exchange exchange, CompletableFuture<EventStatus> status, Consumer<EventStatus> answer) {
        if (status.isDone()) {
            answer.accept(status.join());
            return;
        }
        exchange.onCancel(() -> cancel(status));
        status.whenComplete((result, failure) -> exchange.runOnEventLoop(() -> {
            if (!exchange.isOver()) {
                answer.accept(status.join());
            }
        }));
    }

    private static void cancel(CompletableFuture<?> status) {
        if (status != NO_EVENT) {
            status.cancel(false);
        }
    }

    private void notReady(Exchange exchange) {
        Problems.temporary(
                exchange, NOT_READY, "Nothing is answered before the table is complete: " + waitReason.get());
    }

    private static void tooManyWaiters(Exchange exchange, Waiters.TooManyException tooMany) {
        Problems.temporary(
                exchange, WaitParameters.TOO_MANY_WAITERS, Problem.sentence(String.valueOf(tooMany.getMessage())));
    }
}
