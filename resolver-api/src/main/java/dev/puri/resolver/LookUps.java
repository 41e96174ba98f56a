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
 * The two ways to ask the table. A reference with a token is answered when the table has seen the
 * token's event, or the wait is over.
 */
final class LookUps {
    static final ProblemType NOT_READY = new ProblemType("not-ready", "The table is not complete yet", 503);

    private final Supplier<@Nullable Table> tables;
    private final Supplier<String> progress;
    private final ReadYourWrites writes;
    private final Terms terms;
    private final Verdicts alone;
    private final Verdicts inBatches;

    /**
     * @param maxRefs of a batch
     * @param waits of requests
     */
    record Terms(int maxRefs, WaitParameters waits) {}

    /**
     * @param tables the table that answers now; null while none is complete
     * @param progress tells why there is none
     */
    LookUps(
            Supplier<@Nullable Table> tables,
            Supplier<String> progress,
            ReadYourWrites writes,
            Terms terms,
            MeterRegistry meters) {
        this.tables = tables;
        this.progress = progress;
        this.writes = writes;
        this.terms = terms;
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
            when(exchange, sight(exchange, ref, token, wait), sight -> {
                if (sight instanceof EventStatus.Foreign foreign) {
                    exchange.problem(Problem.of(WaitParameters.FOREIGN_TOKEN, WaitParameters.sentence(foreign.detail())));
                } else {
                    answer(exchange, ref, sight);
                }
            });
        } catch (RefusedException e) {
            exchange.problem(e.problem());
        } catch (Waiters.TooManyException e) {
            tooManyWaiters(exchange, e);
        }
    }

    private void answer(Exchange exchange, String ref, EventStatus sight) {
        JsonOut out = Scratch.ofThread().out();
        Verdict verdict = new InternalAnswer(current(), out, false).write(ref, sight);
        alone.count(verdict, 1);
        exchange.json(verdict.status(), out.bytes(), out.length());
    }

    void batch(Exchange exchange) {
        exchange.readBody(body -> {
            try {
                PlainBatch plain = Scratch.ofThread().batch();
                ResolveRequest other =
                        plain.read(body, terms.maxRefs) ? null : ResolveRequest.parse(body, terms.maxRefs);
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

    /** Answered when all are settled, so that a batch waits as long as its latest event. */
    private void batch(Exchange exchange, ResolveRequest request, Duration wait) {
        List<CompletableFuture<EventStatus>> sights = new ArrayList<>(request.refs().size());
        boolean waits = false;
        try {
            for (ResolveRequest.Ref each : request.refs()) {
                CompletableFuture<EventStatus> sight = each.at() == null ? NOTHING_ASKED : sightOf(exchange, each, wait);
                waits |= !sight.isDone();
                sights.add(sight);
            }
        } catch (Waiters.TooManyException e) {
            sights.forEach(sight -> cancel(sight));
            tooManyWaiters(exchange, e);
            return;
        }
        if (!waits) {
            answer(exchange, request, sights);
            return;
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(sights.toArray(CompletableFuture[]::new));
        exchange.onGone(() -> sights.forEach(LookUps::cancel));
        all.whenComplete((done, failure) -> exchange.later(() -> {
            if (!exchange.isOver()) {
                answer(exchange, request, sights);
            }
        }));
    }

    /** Without a token, whatever is there was seen. */
    private static final CompletableFuture<EventStatus> NOTHING_ASKED =
            CompletableFuture.completedFuture(EventStatus.Seen.INSTANCE);

    private CompletableFuture<EventStatus> sightOf(Exchange exchange, ResolveRequest.Ref each, Duration wait)
            throws Waiters.TooManyException {
        try {
            return sight(exchange, each.ref(), WaitParameters.token(Objects.requireNonNull(each.at())), wait);
        } catch (RefusedException e) {
            // One bad token is its item's matter, as one bad reference is.
            return CompletableFuture.completedFuture(new EventStatus.Foreign(String.valueOf(e.getMessage())));
        }
    }

    private void answer(Exchange exchange, ResolveRequest request, List<CompletableFuture<EventStatus>> sights) {
        JsonOut out = Scratch.ofThread().out();
        InternalAnswer answer = new InternalAnswer(current(), out, request.byShard());
        answer.beginBatch();
        for (int i = 0; i < sights.size(); i++) {
            inBatches.count(
                    answer.write(request.refs().get(i).ref(), sights.get(i).join()), 1);
        }
        answer.endBatch();
        exchange.json(200, out.bytes(), out.length());
    }

    /** Once there is a table there is always one. */
    private Table current() {
        return Objects.requireNonNull(tables.get());
    }

    /**
     * What became of a token's event; completes with {@code Seen} when the reference is malformed, which
     * is then said by the look-up.
     */
    private CompletableFuture<EventStatus> sight(Exchange exchange, String ref, Position token, Duration wait)
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
        return terms.waits().wait(exchange.query("wait"));
    }

    private void when(Exchange exchange, CompletableFuture<EventStatus> sight, java.util.function.Consumer<EventStatus> answer) {
        if (sight.isDone()) {
            answer.accept(sight.join());
            return;
        }
        exchange.onGone(() -> cancel(sight));
        sight.whenComplete((seen, failure) -> exchange.later(() -> {
            if (!exchange.isOver()) {
                answer.accept(sight.join());
            }
        }));
    }

    private static void cancel(CompletableFuture<?> sight) {
        if (sight != NOTHING_ASKED) {
            sight.cancel(false);
        }
    }

    private void notReady(Exchange exchange) {
        exchange.header("Retry-After", "1")
                .problem(Problem.of(NOT_READY, "Nothing is answered before the table is complete: " + progress.get()));
    }

    private static void tooManyWaiters(Exchange exchange, Waiters.TooManyException tooMany) {
        exchange.header("Retry-After", "1")
                .problem(Problem.of(
                        WaitParameters.TOO_MANY_WAITERS, WaitParameters.sentence(String.valueOf(tooMany.getMessage()))));
    }
}
