package dev.puri.client.resolve;

import dev.puri.client.resolve.Addresses.Address;
import dev.puri.client.resolve.ResolverException.Kind;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends batches to {@code POST /v1/resolve}. Look-ups change nothing, so a request that failed is sent to the next address:
 *
 * <pre>
 * first address ──answer──────────────────────────────▶ done, all others are cancelled
 *    │ │ silent for hedgeAfter, budget left ─▶ next address as well ──answer──▶ done
 *    │ no connection, 5xx, 408, 429, unreadable answer, its share of the deadline is over
 *    ▼
 * next address ─▶ … ─▶ none is left: UNREACHABLE or UNAVAILABLE, with the failure of each
 * </pre>
 *
 * A lone address is asked a second time if its connection broke, because a server may close an idle connection just when it is used
 * again. Any other 4xx ends the request at once, because other resolvers would answer the same.
 */
final class Requests {
    static final String LAG = "Puri-Table-Lag";

    /** Bound of one result, which usually has a few hundred bytes and has at most five names of 383. */
    private static final int RESULT_BYTES = 4096;

    private static final int OTHER_BYTES = 64 << 10;
    private static final int MAX_CAUSES = 4;

    private final HttpClient http;
    private final ResolverOptions options;
    private final Addresses addresses;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoClock;
    private final HedgeBudget budget;
    private final Set<Call> underWay = ConcurrentHashMap.newKeySet();
    private final LongAdder sent = new LongAdder();
    private final LongAdder failedOver = new LongAdder();
    private final LongAdder hedged = new LongAdder();
    private volatile @Nullable Long answeredAt;

    private final ConcurrencyLimiter<Call> plainLimiter;

    /** For requests that wait for events. A resolver holds them for seconds, so they must not hold up the others. */
    private final ConcurrencyLimiter<Call> waitingLimiter;

    private volatile boolean closed;

    /**
     * A resolver's answer.
     *
     * @param isFresh false if the resolver reported that its table is behind
     */
    record Answer(List<Verdict> verdicts, boolean isFresh) {}

    Requests(
            HttpClient http,
            ResolverOptions options,
            Addresses addresses,
            ScheduledExecutorService timer,
            LongSupplier nanoClock) {
        this.http = http;
        this.options = options;
        this.addresses = addresses;
        this.timer = timer;
        this.nanoClock = nanoClock;
        this.budget = new HedgeBudget(options.hedgeShare());
        this.plainLimiter = new ConcurrencyLimiter<>(options.maxDirectRequests(), Call::begin);
        this.waitingLimiter = new ConcurrencyLimiter<>(options.maxDirectRequests(), Call::begin);
    }

    /**
     * Sends a request. Does not throw; the future has every failure.
     *
     * @param wait how long the resolver may wait for events
     */
    CompletableFuture<Answer> send(List<Ref> refs, Duration wait) {
        return send(refs, wait, Call::begin);
    }

    /**
     * Sends a request as soon as fewer than {@code maxDirectRequests} of its kind are under way; others wait in their order. Requests that
     * wait for events are one kind, all others the other. A request that waits for events and is not sent within its wait is
     * answered {@link Verdict.NotCaughtUp}.
     */
    CompletableFuture<Answer> sendLimited(List<Ref> refs, Duration wait) {
        boolean waitsForEvents = !wait.isZero() && refs.stream().anyMatch(ref -> ref.at() != null);
        if (!waitsForEvents) {
            return send(refs, wait, call -> beginLimited(call, plainLimiter));
        }
        return send(refs, wait, call -> {
            call.startWait();
            beginLimited(call, waitingLimiter);
        });
    }

    private CompletableFuture<Answer> send(List<Ref> refs, Duration wait, Consumer<Call> begin) {
        if (closed) {
            return CompletableFuture.failedFuture(closed());
        }
        Call call;
        try {
            call = new Call(refs, wait);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        underWay.add(call);
        call.startDeadline();
        begin.accept(call);
        if (closed) {
            call.fail(closed());
        }
        return call.result;
    }

    private static void beginLimited(Call call, ConcurrencyLimiter<Call> limiter) {
        limiter.add(call);
        var unused = call.result.whenComplete((answer, error) -> limiter.end(call));
    }

    static ResolverException closed() {
        return new ResolverException(Kind.CLOSED, "the resolver client was closed before there was an answer");
    }

    long sent() {
        return sent.sum();
    }

    long failedOver() {
        return failedOver.sum();
    }

    long hedged() {
        return hedged.sum();
    }

    /** How long ago a resolver last answered with verdicts; null if none has. */
    @Nullable
    Duration sinceAnswer() {
        Long at = answeredAt;
        return at == null ? null : Duration.ofNanos(Math.max(0, nanoClock.getAsLong() - at));
    }

    /** Fails all requests under way, and all later ones. */
    void close() {
        closed = true;
        plainLimiter.close();
        waitingLimiter.close();
        underWay.forEach(call -> call.fail(closed()));
    }

    /** A batch, from its first request to its answer. */
    private final class Call {
        private final CompletableFuture<Answer> result = new CompletableFuture<>();
        private final List<Ref> refs;
        private final Duration wait;
        private final byte[] body;
        private final long waitEndsAt;
        private final long deadlineAt;

        // Guarded by this.
        private final List<Address> unasked = new ArrayList<>();
        private final List<Attempt> attempts = new ArrayList<>();
        private final List<Throwable> failures = new ArrayList<>();
        private final StringBuilder failureTexts = new StringBuilder();
        private int running;

        Call(List<Ref> refs, Duration wait) {
            this.refs = refs;
            this.wait = wait;
            this.body = Wire.request(refs);
            this.waitEndsAt = nanoClock.getAsLong() + wait.toNanos();
            this.deadlineAt = waitEndsAt + options.deadline().toNanos();
        }

        /** Starts the timer of its deadline. */
        void startDeadline() {
            Future<?> deadline = after(remaining(), this::outOfTime);
            var unused = result.whenComplete((answer, error) -> {
                deadline.cancel(false);
                underWay.remove(this);
                cancelAttempts();
            });
        }

        /** Starts the timer of its wait, which answers for a request that was not sent. A reference without a token still needs a resolver. */
        void startWait() {
            if (refs.stream().allMatch(ref -> ref.at() != null)) {
                Future<?> end = after(wait.toNanos(), this::outOfWait);
                var unused = result.whenComplete((answer, error) -> end.cancel(false));
            }
        }

        private void outOfWait() {
            if (wasNotSent()) {
                List<Verdict> verdicts = new ArrayList<>(refs.size());
                refs.forEach(ref -> verdicts.add(new Verdict.NotCaughtUp(ref)));
                result.complete(new Answer(verdicts, false));
            }
        }

        /** Sends the first request. Does not throw. */
        void begin() {
            try {
                budget.requestSent();
                synchronized (this) {
                    unasked.addAll(addresses.inOrder());
                }
                Duration hedgeAfter = options.hedgeAfter();
                if (hedgeAfter != null) {
                    Future<?> hedge = after(hedgeAfter.plus(restOfWait()).toNanos(), this::hedge);
                    var unused = result.whenComplete((answer, error) -> hedge.cancel(false));
                }
                next(null);
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        }

        private Future<?> after(long nanos, Runnable action) {
            try {
                return timer.schedule(action, nanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // The client was closed meanwhile, which fails the call.
                return new CompletableFuture<>();
            }
        }

        private long remaining() {
            return deadlineAt - nanoClock.getAsLong();
        }

        /** The rest of the wait for an address that is asked now; the caller's wait counts from the beginning. */
        private Duration restOfWait() {
            return Duration.ofNanos(Math.max(0, waitEndsAt - nanoClock.getAsLong()));
        }

        private void hedge() {
            if (hasAnother() && budget.take()) {
                next(hedged);
            }
        }

        private synchronized boolean hasAnother() {
            return !result.isDone() && !unasked.isEmpty();
        }

        /**
         * Asks the next address, if there is one.
         *
         * @param counter counts the request beside {@code sent}; null for none
         */
        private void next(@Nullable LongAdder counter) {
            Attempt attempt;
            @Nullable Duration timeout;
            synchronized (this) {
                if (result.isDone() || unasked.isEmpty()) {
                    return;
                }
                // What is left of the deadline is shared by the addresses that are left; the last has all of it.
                Duration rest = restOfWait();
                long beyondWait = Math.max(0, remaining() - rest.toNanos()) / unasked.size();
                timeout = unasked.size() == 1 ? null : rest.plusNanos(beyondWait);
                attempt = new Attempt(unasked.remove(0), rest);
                attempts.add(attempt);
                running++;
            }
            if (counter != null) {
                counter.increment();
            }
            attempt.start(timeout);
        }

        private void failed(Attempt attempt, Throwable failure) {
            boolean goesOn;
            synchronized (this) {
                running--;
                if (result.isDone()) {
                    return;
                }
                failures.add(failure);
                failureTexts
                        .append(failureTexts.length() == 0 ? "" : "; ")
                        .append(attempt.address)
                        .append(": ")
                        .append(text(failure));
                boolean isLone = attempts.size() == 1 && unasked.isEmpty();
                if (isLone && failure instanceof IOException && !(failure instanceof TooLateException)) {
                    unasked.add(attempt.address);
                }
                goesOn = !unasked.isEmpty() || running > 0;
            }
            if (failure instanceof WrongAnswerException wrong && wrong.isFinal()) {
                fail(exception(Kind.REJECTED));
            } else if (!goesOn) {
                fail(exception(isAnswered() ? Kind.UNAVAILABLE : Kind.UNREACHABLE));
            } else {
                next(failedOver);
            }
        }

        private synchronized boolean isAnswered() {
            return failures.stream().anyMatch(WrongAnswerException.class::isInstance);
        }

        private synchronized ResolverException exception(Kind kind) {
            ResolverException exception =
                    new ResolverException(kind, failureTexts.toString(), failures.isEmpty() ? null : failures.get(0));
            failures.stream().skip(1).limit(MAX_CAUSES).forEach(exception::addSuppressed);
            return exception;
        }

        private void outOfTime() {
            ResolverException soFar = exception(Kind.DEADLINE);
            String text = "no resolver answered within "
                    + wait.plus(options.deadline()).toMillis() + " ms";
            if (wasNotSent()) {
                text += "; it was not sent, because as many requests were under way as may be (maxDirectRequests)";
            } else if (soFar.getCause() != null) {
                text += "; " + soFar.getMessage();
            }
            fail(new ResolverException(Kind.DEADLINE, text, soFar.getCause()));
        }

        private synchronized boolean wasNotSent() {
            return attempts.isEmpty();
        }

        void fail(ResolverException error) {
            result.completeExceptionally(error);
        }

        private void cancelAttempts() {
            List<Attempt> all;
            synchronized (this) {
                all = List.copyOf(attempts);
            }
            all.forEach(Attempt::cancel);
        }

        /** One request to one address. */
        private final class Attempt {
            private final Address address;
            private final long waitMillis;
            private final CompletableFuture<Answer> outcome = new CompletableFuture<>();
            private volatile @Nullable CompletableFuture<HttpResponse<String>> exchange;

            /**
             * @param wait how long the resolver may wait for events
             */
            Attempt(Address address, Duration wait) {
                this.address = address;
                this.waitMillis = wait.toMillis();
            }

            /**
             * @param timeout how long it may take; null for until the deadline
             */
            void start(@Nullable Duration timeout) {
                sent.increment();
                var end = outcome.whenComplete(this::completed);
                if (timeout != null) {
                    Future<?> limit = after(
                            timeout.toNanos(),
                            () -> outcome.completeExceptionally(
                                    new TooLateException("no answer within " + timeout.toMillis() + " ms")));
                    var unlimited = end.whenComplete((answer, error) -> limit.cancel(false));
                }
                try {
                    send();
                } catch (RuntimeException | Error e) {
                    // A thrown error would be lost, and the call would be under way until its deadline.
                    outcome.completeExceptionally(e);
                }
            }

            private void send() {
                HttpRequest.Builder request = HttpRequest.newBuilder(
                                address.resolve("/v1/resolve" + (waitMillis == 0 ? "" : "?wait=" + waitMillis + "ms")))
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofByteArray(body));
                if (options.token() != null) {
                    request.header("Authorization", "Bearer " + options.token());
                }
                long maxBytes = OTHER_BYTES + (long) RESULT_BYTES * refs.size();
                CompletableFuture<HttpResponse<String>> asked =
                        http.sendAsync(request.build(), response -> new BoundedText(maxBytes));
                exchange = asked;
                var read = asked.whenComplete((response, error) -> {
                    if (error != null) {
                        outcome.completeExceptionally(unwrapped(error));
                        return;
                    }
                    try {
                        outcome.complete(read(response));
                    } catch (WrongAnswerException | RuntimeException | Error e) {
                        outcome.completeExceptionally(e);
                    }
                });
                if (outcome.isDone()) {
                    asked.cancel(true);
                }
            }

            private Answer read(HttpResponse<String> response) throws WrongAnswerException {
                int status = response.statusCode();
                if (status != 200) {
                    boolean isFinal = status / 100 == 4 && status != 408 && status != 429;
                    throw new WrongAnswerException(status + " ", response.body(), isFinal, null);
                }
                try {
                    List<Verdict> verdicts = Wire.verdicts(refs, response.body());
                    return new Answer(
                            verdicts, response.headers().firstValue(LAG).isEmpty());
                } catch (IllegalArgumentException e) {
                    throw new WrongAnswerException(
                            "not an answer of a resolver (" + e.getMessage() + "): ", response.body(), false, e);
                }
            }

            private void completed(@Nullable Answer answer, @Nullable Throwable error) {
                CompletableFuture<HttpResponse<String>> asked = exchange;
                if (asked != null) {
                    asked.cancel(true);
                }
                if (answer != null) {
                    address.answered();
                    answeredAt = nanoClock.getAsLong();
                    result.complete(answer);
                } else if (error != null && !outcome.isCancelled()) {
                    boolean isFaultOfAddress = !(error instanceof WrongAnswerException wrong) || !wrong.isFinal();
                    if (isFaultOfAddress && !result.isDone()) {
                        address.failed();
                    }
                    failed(this, error);
                }
            }

            void cancel() {
                outcome.cancel(false);
            }
        }
    }

    /** An address that used up its share of the deadline. */
    private static final class TooLateException extends IOException {
        private static final long serialVersionUID = 1L;

        TooLateException(String message) {
            super(message);
        }
    }

    private static Throwable unwrapped(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    /** The JDK's exceptions for a refused connection have no message. */
    private static String text(Throwable failure) {
        boolean isOurs = failure instanceof WrongAnswerException || failure instanceof TooLateException;
        return isOurs ? String.valueOf(failure.getMessage()) : failure.toString();
    }
}
