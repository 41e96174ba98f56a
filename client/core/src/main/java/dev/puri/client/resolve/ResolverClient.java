package dev.puri.client.resolve;

import dev.puri.client.resolve.ResolverException.Kind;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks up identities at resolvers over HTTP. Answers from a cache if the options have one.
 *
 * <pre>
 * Ref ─▶ malformed? ─▶ cache ─▶ single, no token ─▶ Joiner ─────────────┬▶ Requests ─▶ POST /v1/resolve
 *            │           │  └─▶ list, or a token ─▶ ConcurrencyLimiter ──┘     │
 *            ▼           ▼                                                     ▼
 *         verdict     verdict ◀─── put into the cache unless it may be stale ◀─┘
 *
 * cache ◀── ChangeFeed ◀── GET /v1/changes
 * </pre>
 */
public final class ResolverClient implements IdentityResolver {
    private static final Duration MAX_WAIT = Duration.ofDays(1);

    private final ResolverOptions options;
    private final HttpClient http;
    private final ScheduledThreadPoolExecutor timer;
    private final Requests requests;
    private final Joiner joiner;
    private final @Nullable RowCache cache;
    private final @Nullable ChangeFeed feed;
    private final AtomicInteger pending = new AtomicInteger();

    /**
     * Statistics of requests. Counts begin when the client is opened.
     *
     * @param requests number of requests to all addresses
     * @param failedOver number of requests that were sent because another address had failed
     * @param hedged number of requests that were sent because another address had not responded in time
     * @param pending current number of references that are not yet answered
     * @param sinceAnswer time since a resolver last answered with verdicts; null if none has
     */
    public record RequestStatistics(
            long requests,
            long failedOver,
            long hedged,
            int pending,
            @Nullable Duration sinceAnswer) {}

    private ResolverClient(ResolverOptions options, Duration minFeedRetryDelay) {
        this.options = options;
        // With HTTP/1.1, a cancelled request closes only its own connection and delays no other request.
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(options.connectTimeout());
        if (options.tls() != null) {
            builder.sslContext(options.tls());
        }
        http = builder.build();
        timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "puri-resolver-client");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        requests = new Requests(
                http, options, new Addresses(options.addresses(), System::nanoTime), timer, System::nanoTime);
        joiner = new Joiner(
                options.maxBatch(),
                options.maxJoinedRequests(),
                options.deadline(),
                System::nanoTime,
                this::sendJoined);
        if (options.cacheSize() > 0) {
            cache = new RowCache(options.cacheSize(), options.replicaLag(), System::nanoTime);
            // The feed has its own Addresses: an address that refuses the feed for lack of a scope may still answer
            // look-ups.
            feed = new ChangeFeed(
                    http,
                    options,
                    new Addresses(options.addresses(), System::nanoTime),
                    timer,
                    System::nanoTime,
                    cache,
                    minFeedRetryDelay);
        } else {
            cache = null;
            feed = null;
        }
    }

    /** Opens a client. It connects in the background. */
    public static ResolverClient open(ResolverOptions options) {
        return open(options, ChangeFeed.MIN_RETRY_DELAY);
    }

    /** For tests: opens a client whose feed connects again after another shortest delay. */
    static ResolverClient open(ResolverOptions options, Duration minFeedRetryDelay) {
        ResolverClient client = new ResolverClient(options, minFeedRetryDelay);
        if (client.feed != null) {
            client.feed.connect();
        }
        return client;
    }

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration requestedWait) {
        Ref.requireRef(ref);
        Duration wait = bounded(requestedWait);
        Verdict known = verdictWithoutRequest(ref);
        if (known != null) {
            return CompletableFuture.completedStage(known);
        }
        if (!tryAddPending(1)) {
            return CompletableFuture.failedStage(tooManyPending(1));
        }
        CompletableFuture<Verdict> answer = ref.token() == null
                ? joiner.add(ref)
                : sendWithWait(List.of(ref), wait).thenApply(verdicts -> verdicts.get(0));
        // A copy, because withDeadline completes its argument at the deadline, and the original must complete when the
        // request ends.
        return withDeadline(removingPending(answer, 1).copy(), ref.token() == null ? Duration.ZERO : wait);
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration requestedWait) {
        Ref.requireRefs(refs);
        Duration wait = bounded(requestedWait);
        List<@Nullable Verdict> verdicts = new ArrayList<>(refs.size());
        List<Integer> missing = new ArrayList<>();
        for (int i = 0; i < refs.size(); i++) {
            Verdict known = verdictWithoutRequest(refs.get(i));
            verdicts.add(known);
            if (known == null) {
                missing.add(i);
            }
        }
        if (missing.isEmpty()) {
            return CompletableFuture.completedStage(requireNoneMissing(verdicts));
        }
        if (!tryAddPending(missing.size())) {
            return CompletableFuture.failedStage(tooManyPending(missing.size()));
        }
        Duration longestWait = Duration.ZERO;
        List<CompletableFuture<Void>> batches = new ArrayList<>();
        for (int from = 0; from < missing.size(); from += options.maxBatch()) {
            List<Integer> batch = missing.subList(from, Math.min(missing.size(), from + options.maxBatch()));
            List<Ref> batchRefs = batch.stream().map(refs::get).toList();
            // A batch without tokens does not wait: a wait would delay its hedges, fail-over and deadline.
            boolean hasToken = batchRefs.stream().anyMatch(ref -> ref.token() != null);
            Duration batchWait = hasToken ? wait : Duration.ZERO;
            longestWait = longestWait.compareTo(batchWait) < 0 ? batchWait : longestWait;
            CompletableFuture<List<Verdict>> batchAnswer =
                    removingPending(sendWithWait(batchRefs, batchWait), batch.size());
            batches.add(batchAnswer.thenAccept(answers -> {
                for (int i = 0; i < answers.size(); i++) {
                    verdicts.set(batch.get(i), answers.get(i));
                }
            }));
        }
        CompletableFuture<List<Verdict>> complete = CompletableFuture.allOf(batches.toArray(CompletableFuture[]::new))
                .thenApply(done -> requireNoneMissing(verdicts));
        return withDeadline(complete, longestWait);
    }

    /** Returns a wait that is not negative and whose nanoseconds fit into a long. */
    private static Duration bounded(Duration wait) {
        return wait.isNegative() ? Duration.ZERO : shorter(wait, MAX_WAIT);
    }

    static Duration shorter(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    private static List<Verdict> requireNoneMissing(List<@Nullable Verdict> verdicts) {
        List<Verdict> complete = new ArrayList<>(verdicts.size());
        for (Verdict verdict : verdicts) {
            if (verdict == null) {
                throw new IllegalStateException("bug: a reference has no verdict");
            }
            complete.add(verdict);
        }
        return List.copyOf(complete);
    }

    /** Returns the verdict on a malformed or cached reference; null if a resolver has to be asked. */
    private @Nullable Verdict verdictWithoutRequest(Ref ref) {
        String flaw = ref.flaw();
        if (flaw != null) {
            return new Verdict.Malformed(ref, flaw);
        }
        return cache == null ? null : cache.get(ref);
    }

    private boolean tryAddPending(int refs) {
        if (pending.addAndGet(refs) <= options.maxPending()) {
            return true;
        }
        pending.addAndGet(-refs);
        return false;
    }

    /**
     * Subtracts the references from the pending count when their request ends. This may be after the deadline of the
     * look-up, because the request uses resources until it ends.
     */
    private <T> CompletableFuture<T> removingPending(CompletableFuture<T> answer, int refs) {
        return answer.whenComplete((value, error) -> pending.addAndGet(-refs));
    }

    private ResolverException tooManyPending(int refs) {
        return new ResolverException(
                Kind.FULL,
                refs + " references were refused, because " + pending.get()
                        + " references are pending already and at most " + options.maxPending()
                        + " may be pending (maxPending)");
    }

    private CompletableFuture<List<Verdict>> sendJoined(List<Ref> refs) {
        return sendAndCache(refs, () -> requests.send(refs, Duration.ZERO));
    }

    private CompletableFuture<List<Verdict>> sendWithWait(List<Ref> refs, Duration wait) {
        return sendWithWait(refs, wait, System.nanoTime() + wait.toNanos());
    }

    /**
     * Sends a request. If the wait is longer than a resolver accepts, sends several requests, one after the other. Each
     * request reduces the wait by {@code maxWait}, even if the resolver responds sooner, so the number of requests is
     * bounded. No request begins after the end of the wait.
     */
    private CompletableFuture<List<Verdict>> sendWithWait(List<Ref> refs, Duration wait, long waitEndsAt) {
        Duration part = shorter(wait, options.maxWait());
        CompletableFuture<List<Verdict>> answer = sendAndCache(refs, () -> requests.sendLimited(refs, part));
        Duration rest = wait.minus(part);
        if (rest.isZero()) {
            return answer;
        }
        return answer.thenCompose(verdicts -> {
            Duration next = shorter(rest, Duration.ofNanos(waitEndsAt - System.nanoTime()));
            boolean sendsAgain = next.compareTo(Duration.ZERO) > 0
                    && verdicts.stream().anyMatch(Verdict.NotCaughtUp.class::isInstance);
            return sendsAgain ? sendWithWait(refs, next, waitEndsAt) : CompletableFuture.completedFuture(verdicts);
        });
    }

    private CompletableFuture<List<Verdict>> sendAndCache(
            List<Ref> refs, Supplier<CompletableFuture<Requests.Answer>> request) {
        long sentAt = cache == null ? 0 : cache.now();
        return request.get().thenApply(answer -> {
            if (cache != null && answer.isFresh()) {
                for (int i = 0; i < refs.size(); i++) {
                    cache.put(refs.get(i), answer.verdicts().get(i), sentAt);
                }
            }
            return answer.verdicts();
        });
    }

    /**
     * Fails a look-up at its deadline. The deadline of its request is not enough, because the look-up may wait in the
     * Joiner before the request is sent.
     */
    private <T> CompletionStage<T> withDeadline(CompletableFuture<T> answer, Duration wait) {
        Duration limit = wait.plus(options.deadline());
        CompletableFuture<T> limited = new CompletableFuture<>();
        var unused = answer.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS).whenComplete((value, error) -> {
            if (error == null) {
                limited.complete(value);
            } else if (error instanceof TimeoutException) {
                limited.completeExceptionally(new ResolverException(
                        Kind.DEADLINE, "no resolver answered within " + limit.toMillis() + " ms", error));
            } else {
                limited.completeExceptionally(Requests.unwrapped(error));
            }
        });
        return limited.minimalCompletionStage();
    }

    /** Returns statistics of the cache and its feed. */
    public CacheStatistics cacheStatistics() {
        return feed == null
                ? new CacheStatistics(0, 0, 0, 0, 0, 0, 0, 0, CacheStatistics.Feed.OFF, null)
                : feed.statistics();
    }

    /** Returns statistics of requests. */
    public RequestStatistics requestStatistics() {
        return new RequestStatistics(
                requests.sent(), requests.failedOver(), requests.hedged(), pending.get(), requests.sinceAnswer());
    }

    /**
     * Fails pending look-ups and ends all threads. On Java 17 the threads of the HTTP client end when the client is
     * garbage-collected.
     */
    @Override
    public void close() {
        if (feed != null) {
            feed.close();
        }
        requests.close();
        timer.shutdownNow();
        if (http instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new IllegalStateException("the HTTP client could not be closed", e);
            }
        }
    }
}
