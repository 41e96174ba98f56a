package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.resolver.answer.InternalAnswer;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.answer.Scratch;
import dev.puri.resolver.table.Table;
import dev.puri.resolver.table.Verdict;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.InvalidNameException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.tail.wait.EventStatus;
import dev.puri.tail.wait.ReadYourWrites;
import dev.puri.tail.wait.WaitParameters;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Look-ups of one reference or a batch. A reference with a token gets its result when the table has the token's event,
 * or when the wait is over.
 */
final class LookUps {
    static final ProblemType NOT_READY = new ProblemType("not-ready", "The table is not complete yet", 503);

    private final Supplier<@Nullable Table> tables;
    private final Supplier<String> progress;
    private final ReadYourWrites writes;
    private final Limits limits;
    private final Verdicts alone;
    private final Verdicts inBatches;

    /**
     * @param maxRefs of a batch
     * @param waits of requests
     */
    record Limits(int maxRefs, WaitParameters waits) {}

    /**
     * @param tables the serving table; null while none is complete
     * @param progress why no table is complete, for people
     */
    LookUps(
            Supplier<@Nullable Table> tables,
            Supplier<String> progress,
            ReadYourWrites writes,
            Limits limits,
            MeterRegistry meters) {
        this.tables = tables;
        this.progress = progress;
        this.writes = writes;
        this.limits = limits;
        alone = new Verdicts("internal", "/v1/identities/{ref}", meters);
        inBatches = new Verdicts("internal", "/v1/resolve", meters);
    }

    void one(Exchange exchange) {
        Table table = tables.get();
        if (table == null) {
            notReady(exchange);
            return;
        }
        String ref = PathRef.decode(exchange.parameter());
        String at = exchange.query("at");
        try {
            Duration wait = wait(exchange);
            if (at == null) {
                if (exchange.query("wait") != null) {
                    throw new RefusedException(
                            WaitParameters.INVALID_PARAMETER,
                            "wait is for the event of a token, and there is no parameter at.");
                }
                answer(exchange, ref, EventStatus.Seen.INSTANCE);
                return;
            }
            Position token = WaitParameters.token(at);
            when(exchange, status(exchange, ref, token, wait), status -> {
                if (status instanceof EventStatus.Foreign foreign) {
                    exchange.problem(
                            Problem.of(WaitParameters.FOREIGN_TOKEN, WaitParameters.sentence(foreign.detail())));
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
        JsonOut out = Scratch.ofThread().out();
        Verdict verdict = new InternalAnswer(current(), out, false).write(ref, status);
        alone.count(verdict, 1);
        exchange.json(verdict.status(), out.bytes(), out.length());
    }

    void batch(Exchange exchange) {
        exchange.readBody(body -> {
            try {
                PlainBatch plain = Scratch.ofThread().batch();
                ResolveRequest other =
                        plain.read(body, limits.maxRefs) ? null : ResolveRequest.parse(body, limits.maxRefs);
                Table table = tables.get();
                if (table == null) {
                    notReady(exchange);
                    return;
                }
                Duration wait = wait(exchange);
                if (other == null) {
                    answer(exchange, table, plain);
                } else {
                    batch(exchange, other, wait);
                }
            } catch (RefusedException e) {
                exchange.problem(e.problem());
            }
        });
    }

    /** No reference has a token here, so there is nothing to wait for. */
    private void answer(Exchange exchange, Table table, PlainBatch plain) {
        JsonOut out = Scratch.ofThread().out();
        inBatches.count(plain.write(new InternalAnswer(table, out, plain.byShard())));
        exchange.json(200, out.bytes(), out.length());
    }

    /** Answers when all waits have ended, so a batch waits for the last of its events. */
    private void batch(Exchange exchange, ResolveRequest request, Duration wait) {
        List<CompletableFuture<EventStatus>> statuses =
                new ArrayList<>(request.refs().size());
        boolean waits = false;
        try {
            for (ResolveRequest.Ref each : request.refs()) {
                CompletableFuture<EventStatus> status =
                        each.at() == null ? NOTHING_ASKED : statusOf(exchange, each, wait);
                waits |= !status.isDone();
                statuses.add(status);
            }
        } catch (Waiters.TooManyException e) {
            statuses.forEach(status -> cancel(status));
            tooManyWaiters(exchange, e);
            return;
        }
        if (!waits) {
            answer(exchange, request, statuses);
            return;
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(statuses.toArray(CompletableFuture[]::new));
        exchange.onGone(() -> statuses.forEach(LookUps::cancel));
        all.whenComplete((done, failure) -> exchange.later(() -> {
            if (!exchange.isOver()) {
                answer(exchange, request, statuses);
            }
        }));
    }

    /** The status of a reference without a token. */
    private static final CompletableFuture<EventStatus> NOTHING_ASKED =
            CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);

    private CompletableFuture<EventStatus> statusOf(Exchange exchange, ResolveRequest.Ref each, Duration wait)
            throws Waiters.TooManyException {
        try {
            return status(exchange, each.ref(), WaitParameters.token(Objects.requireNonNull(each.at())), wait);
        } catch (RefusedException e) {
            // A bad token fails its own item, like a bad reference.
            return CompletableFuture.completedFuture(new EventStatus.Foreign(String.valueOf(e.getMessage())));
        }
    }

    private void answer(Exchange exchange, ResolveRequest request, List<CompletableFuture<EventStatus>> statuses) {
        JsonOut out = Scratch.ofThread().out();
        InternalAnswer answer = new InternalAnswer(current(), out, request.byShard());
        answer.beginBatch();
        for (int i = 0; i < statuses.size(); i++) {
            inBatches.count(
                    answer.write(request.refs().get(i).ref(), statuses.get(i).join()), 1);
        }
        answer.endBatch();
        exchange.json(200, out.bytes(), out.length());
    }

    /** Once there is a table, there always is one. */
    private Table current() {
        return Objects.requireNonNull(tables.get());
    }

    /**
     * Waits for a token's event; completes with {@code Seen} when the reference is malformed, which the look-up then
     * reports.
     */
    private CompletableFuture<EventStatus> status(Exchange exchange, String ref, Position token, Duration wait)
            throws Waiters.TooManyException {
        try {
            return Handle.looksLike(ref)
                    ? writes.await(exchange.connection(), Handle.parse(ref), token, wait)
                    : writes.await(exchange.connection(), Puri.parse(ref), token, wait);
        } catch (InvalidNameException e) {
            return CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);
        }
    }

    private Duration wait(Exchange exchange) throws RefusedException {
        return limits.waits().wait(exchange.query("wait"));
    }

    private void when(
            Exchange exchange, CompletableFuture<EventStatus> status, java.util.function.Consumer<EventStatus> answer) {
        if (status.isDone()) {
            answer.accept(status.join());
            return;
        }
        exchange.onGone(() -> cancel(status));
        status.whenComplete((seen, failure) -> exchange.later(() -> {
            if (!exchange.isOver()) {
                answer.accept(status.join());
            }
        }));
    }

    private static void cancel(CompletableFuture<?> status) {
        if (status != NOTHING_ASKED) {
            status.cancel(false);
        }
    }

    private void notReady(Exchange exchange) {
        exchange.header("Retry-After", "1")
                .problem(Problem.of(NOT_READY, "Nothing is answered before the table is complete: " + progress.get()));
    }

    private static void tooManyWaiters(Exchange exchange, Waiters.TooManyException tooMany) {
        exchange.header("Retry-After", "1")
                .problem(Problem.of(
                        WaitParameters.TOO_MANY_WAITERS,
                        WaitParameters.sentence(String.valueOf(tooMany.getMessage()))));
    }
}
