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
 * Sends batches of references to {@code POST /v1/resolve}. A look-up changes nothing, so after a failure the client
 * sends the same batch to the next address:
 *
 * <pre>
 * first address ──answer──────────────────────────────▶ done, other attempts are cancelled
 *    │ │ no answer for hedgeAfter, and budget left ─▶ next address as well ──answer──▶ done
 *    │ no connection, 5xx, 408, 429, unreadable answer, the address has used up its share of the deadline
 *    ▼
 * next address ─▶ … ─▶ no address left: UNREACHABLE or UNAVAILABLE, with the failure of each address
 * </pre>
 *
 * If there is only one address and its connection broke, the address is tried a second time, because a server may close
 * an idle connection just when the client uses it again. Any other 4xx status fails the call at once, because other
 * resolvers would respond in the same way.
 */
final class Requests {
    static final String LAG_HEADER = "Puri-Table-Lag";

    /** Maximum size of one result. A result usually has a few hundred bytes; it has at most five names of 383 bytes. */
    private static final int MAX_RESULT_BYTES = 4096;

    /** Maximum size of a response without its results. */
    private static final int MAX_OTHER_BYTES = 64 << 10;

    private static final int MAX_SUPPRESSED = 4;

    private final HttpClient http;
    private final ResolverOptions options;
    private final Addresses addresses;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoClock;
    private final HedgeBudget budget;
    private final Set<Call> runningCalls = ConcurrentHashMap.newKeySet();
    private final LongAdder sent = new LongAdder();
    private final LongAdder failedOver = new LongAdder();
    private final LongAdder hedged = new LongAdder();

    /** Time of the last answer; null if there was none. */
    private volatile @Nullable Long answeredAt;

    /** Limits requests that do not come from the {@link Joiner} and do not wait for events. */
    private final ConcurrencyLimiter<Call> nonWaitingLimiter;

    /** Limits requests that wait for events. They take seconds, so they must not block other requests. */
    private final ConcurrencyLimiter<Call> waitingLimiter;

    private volatile boolean isClosed;

    /**
     * A resolver's answer.
     *
     * @param isFresh false if the resolver reported that its table lags
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
        this.nonWaitingLimiter = new ConcurrencyLimiter<>(options.maxDirectRequests(), Call::begin);
        this.waitingLimiter = new ConcurrencyLimiter<>(options.maxDirectRequests(), Call::begin);
    }

    /**
     * Sends a batch at once. Does not throw; every failure is in the future.
     *
     * @param wait maximum time that the resolver may wait for events
     */
    CompletableFuture<Answer> send(List<Ref> refs, Duration wait) {
        return send(refs, wait, Call::begin);
    }

    /**
     * Sends a batch as soon as fewer than {@code maxDirectRequests} calls of its kind are running. Further calls wait
     * in their order. There are two kinds: calls that wait for events, and all other calls. If a call that waits is not
     * sent within its wait, and all its references have tokens, their verdict is {@link Verdict.NotCaughtUp}.
     */
    CompletableFuture<Answer> sendLimited(List<Ref> refs, Duration wait) {
        boolean waitsForEvents = !wait.isZero() && refs.stream().anyMatch(ref -> ref.token() != null);
        if (!waitsForEvents) {
            return send(refs, wait, call -> beginLimited(call, nonWaitingLimiter));
        }
        return send(refs, wait, call -> {
            call.startWait();
            beginLimited(call, waitingLimiter);
        });
    }

    private CompletableFuture<Answer> send(List<Ref> refs, Duration wait, Consumer<Call> begin) {
        if (isClosed) {
            return CompletableFuture.failedFuture(closedException());
        }
        Call call;
        try {
            call = new Call(refs, wait);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
        runningCalls.add(call);
        call.startDeadline();
        begin.accept(call);
        if (isClosed) {
            call.fail(closedException());
        }
        return call.result;
    }

    private static void beginLimited(Call call, ConcurrencyLimiter<Call> limiter) {
        limiter.add(call);
        var unused = call.result.whenComplete((answer, error) -> limiter.end(call));
    }

    static ResolverException closedException() {
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

    /** Returns the time since a resolver last answered with verdicts; null if none has. */
    @Nullable
    Duration sinceAnswer() {
        Long lastAnswerAt = answeredAt;
        return lastAnswerAt == null ? null : Duration.ofNanos(Math.max(0, nanoClock.getAsLong() - lastAnswerAt));
    }

    /** Fails all running calls and all later calls. */
    void close() {
        isClosed = true;
        nonWaitingLimiter.close();
        waitingLimiter.close();
        runningCalls.forEach(call -> call.fail(closedException()));
    }

    /** A batch, which is sent to one address after the other until there is an answer. */
    private final class Call {
        private final CompletableFuture<Answer> result = new CompletableFuture<>();
        private final List<Ref> refs;
        private final Duration wait;
        private final byte[] body;
        private final long waitEndsAt;
        private final long deadlineAt;

        // Guarded by this.
        private final List<Address> untriedAddresses = new ArrayList<>();
        private final List<Attempt> attempts = new ArrayList<>();
        private final List<Throwable> failures = new ArrayList<>();
        private final StringBuilder failureTexts = new StringBuilder();
        private int runningAttempts;

        Call(List<Ref> refs, Duration wait) {
            this.refs = refs;
            this.wait = wait;
            this.body = ResolverJson.encodeRequest(refs);
            this.waitEndsAt = nanoClock.getAsLong() + wait.toNanos();
            this.deadlineAt = waitEndsAt + options.deadline().toNanos();
        }

        /** Starts the timer that fails the call at its deadline. */
        void startDeadline() {
            Future<?> deadlineTimer = schedule(remainingNanos(), this::failAtDeadline);
            var unused = result.whenComplete((answer, error) -> {
                deadlineTimer.cancel(false);
                runningCalls.remove(this);
                cancelAttempts();
            });
        }

        /**
         * Starts the timer that ends the wait of a call that is not sent. Does nothing if a reference has no token,
         * because only a resolver can give its verdict.
         */
        void startWait() {
            if (refs.stream().allMatch(ref -> ref.token() != null)) {
                Future<?> waitTimer = schedule(wait.toNanos(), this::answerAtEndOfWait);
                var unused = result.whenComplete((answer, error) -> waitTimer.cancel(false));
            }
        }

        private void answerAtEndOfWait() {
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
                    untriedAddresses.addAll(addresses.inOrder());
                }
                Duration hedgeAfter = options.hedgeAfter();
                if (hedgeAfter != null) {
                    Future<?> hedgeTimer =
                            schedule(hedgeAfter.plus(remainingWait()).toNanos(), this::hedge);
                    var unused = result.whenComplete((answer, error) -> hedgeTimer.cancel(false));
                }
                tryNext(null);
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        }

        private Future<?> schedule(long nanos, Runnable action) {
            try {
                return timer.schedule(action, nanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                // The client has been closed, which fails the call.
                return new CompletableFuture<>();
            }
        }

        private long remainingNanos() {
            return deadlineAt - nanoClock.getAsLong();
        }

        /** Returns the remaining wait for an address that is asked now. The wait begins with the call. */
        private Duration remainingWait() {
            return Duration.ofNanos(Math.max(0, waitEndsAt - nanoClock.getAsLong()));
        }

        private void hedge() {
            if (hasUntriedAddress() && budget.take()) {
                tryNext(hedged);
            }
        }

        private synchronized boolean hasUntriedAddress() {
            return !result.isDone() && !untriedAddresses.isEmpty();
        }

        /**
         * Sends the batch to the next address, if there is one.
         *
         * @param counter incremented in addition to {@code sent}; null for the first request
         */
        private void tryNext(@Nullable LongAdder counter) {
            Attempt attempt;
            @Nullable Duration timeout;
            synchronized (this) {
                if (result.isDone() || untriedAddresses.isEmpty()) {
                    return;
                }
                // The untried addresses share the time before the deadline; the last address may use all of it.
                Duration attemptWait = remainingWait();
                long shareNanos = Math.max(0, remainingNanos() - attemptWait.toNanos()) / untriedAddresses.size();
                timeout = untriedAddresses.size() == 1 ? null : attemptWait.plusNanos(shareNanos);
                attempt = new Attempt(untriedAddresses.remove(0), attemptWait);
                attempts.add(attempt);
                runningAttempts++;
            }
            if (counter != null) {
                counter.increment();
            }
            attempt.start(timeout);
        }

        private void failed(Attempt attempt, Throwable failure) {
            boolean mayStillSucceed;
            synchronized (this) {
                runningAttempts--;
                if (result.isDone()) {
                    return;
                }
                failures.add(failure);
                failureTexts
                        .append(failureTexts.length() == 0 ? "" : "; ")
                        .append(attempt.address)
                        .append(": ")
                        .append(describe(failure));
                boolean isOnlyAddress = attempts.size() == 1 && untriedAddresses.isEmpty();
                if (isOnlyAddress && failure instanceof IOException && !(failure instanceof AddressTimeoutException)) {
                    untriedAddresses.add(attempt.address);
                }
                mayStillSucceed = !untriedAddresses.isEmpty() || runningAttempts > 0;
            }
            if (failure instanceof UnusableResponseException unusable && unusable.isSameFromAllResolvers()) {
                fail(exception(Kind.REJECTED));
            } else if (!mayStillSucceed) {
                fail(exception(hasResponded() ? Kind.UNAVAILABLE : Kind.UNREACHABLE));
            } else {
                tryNext(failedOver);
            }
        }

        private synchronized boolean hasResponded() {
            return failures.stream().anyMatch(UnusableResponseException.class::isInstance);
        }

        private synchronized ResolverException exception(Kind kind) {
            ResolverException exception =
                    new ResolverException(kind, failureTexts.toString(), failures.isEmpty() ? null : failures.get(0));
            failures.stream().skip(1).limit(MAX_SUPPRESSED).forEach(exception::addSuppressed);
            return exception;
        }

        private void failAtDeadline() {
            ResolverException failuresSoFar = exception(Kind.DEADLINE);
            String message = "no resolver answered within "
                    + wait.plus(options.deadline()).toMillis() + " ms";
            if (wasNotSent()) {
                message += "; not sent, because the maximum number of requests was running (maxDirectRequests)";
            } else if (failuresSoFar.getCause() != null) {
                message += "; " + failuresSoFar.getMessage();
            }
            fail(new ResolverException(Kind.DEADLINE, message, failuresSoFar.getCause()));
        }

        private synchronized boolean wasNotSent() {
            return attempts.isEmpty();
        }

        void fail(ResolverException error) {
            result.completeExceptionally(error);
        }

        private void cancelAttempts() {
            List<Attempt> snapshot;
            synchronized (this) {
                snapshot = List.copyOf(attempts);
            }
            snapshot.forEach(Attempt::cancel);
        }

        /** One HTTP request to one address. */
        private final class Attempt {
            private final Address address;
            private final long waitMillis;
            private final CompletableFuture<Answer> outcome = new CompletableFuture<>();
            private volatile @Nullable CompletableFuture<HttpResponse<String>> responseFuture;

            /**
             * @param wait maximum time that the resolver may wait for events
             */
            Attempt(Address address, Duration wait) {
                this.address = address;
                this.waitMillis = wait.toMillis();
            }

            /**
             * @param timeout time limit of the request; null if only the call's deadline limits it
             */
            void start(@Nullable Duration timeout) {
                sent.increment();
                var completion = outcome.whenComplete(this::onCompletion);
                if (timeout != null) {
                    Future<?> timeoutTimer = schedule(
                            timeout.toNanos(),
                            () -> outcome.completeExceptionally(
                                    new AddressTimeoutException("no answer within " + timeout.toMillis() + " ms")));
                    var unused = completion.whenComplete((answer, error) -> timeoutTimer.cancel(false));
                }
                try {
                    send();
                } catch (RuntimeException | Error e) {
                    // If this method threw, the error would be lost and the call would run until its deadline.
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
                long maxBytes = MAX_OTHER_BYTES + (long) MAX_RESULT_BYTES * refs.size();
                CompletableFuture<HttpResponse<String>> responseFuture =
                        http.sendAsync(request.build(), response -> new BoundedText(maxBytes));
                this.responseFuture = responseFuture;
                var unused = responseFuture.whenComplete((response, error) -> {
                    if (error != null) {
                        outcome.completeExceptionally(unwrapped(error));
                        return;
                    }
                    try {
                        outcome.complete(read(response));
                    } catch (UnusableResponseException | RuntimeException | Error e) {
                        outcome.completeExceptionally(e);
                    }
                });
                if (outcome.isDone()) {
                    responseFuture.cancel(true);
                }
            }

            private Answer read(HttpResponse<String> response) throws UnusableResponseException {
                int status = response.statusCode();
                if (status != 200) {
                    boolean isSameFromAllResolvers = status / 100 == 4 && status != 408 && status != 429;
                    throw new UnusableResponseException(status + " ", response.body(), isSameFromAllResolvers, null);
                }
                try {
                    List<Verdict> verdicts = ResolverJson.parseVerdicts(refs, response.body());
                    return new Answer(
                            verdicts, response.headers().firstValue(LAG_HEADER).isEmpty());
                } catch (IllegalArgumentException e) {
                    throw new UnusableResponseException(
                            "the response is not that of a resolver (" + e.getMessage() + "): ",
                            response.body(),
                            false,
                            e);
                }
            }

            private void onCompletion(@Nullable Answer answer, @Nullable Throwable error) {
                CompletableFuture<HttpResponse<String>> responseFuture = this.responseFuture;
                if (responseFuture != null) {
                    responseFuture.cancel(true);
                }
                if (answer != null) {
                    address.answered();
                    answeredAt = nanoClock.getAsLong();
                    result.complete(answer);
                } else if (error != null && !outcome.isCancelled()) {
                    boolean isFailureOfAddress = !(error instanceof UnusableResponseException unusable)
                            || !unusable.isSameFromAllResolvers();
                    if (isFailureOfAddress && !result.isDone()) {
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

    /** An address did not respond within its share of the deadline. */
    private static final class AddressTimeoutException extends IOException {
        private static final long serialVersionUID = 1L;

        AddressTimeoutException(String message) {
            super(message);
        }
    }

    /** Returns the cause of a CompletionException, with which dependent stages fail; returns other errors unchanged. */
    static Throwable unwrapped(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    /**
     * Returns the message of our own exceptions. Others are described with their class, because the JDK's exception for
     * a refused connection has no message.
     */
    private static String describe(Throwable failure) {
        boolean isOurs = failure instanceof UnusableResponseException || failure instanceof AddressTimeoutException;
        return isOurs ? String.valueOf(failure.getMessage()) : failure.toString();
    }
}
