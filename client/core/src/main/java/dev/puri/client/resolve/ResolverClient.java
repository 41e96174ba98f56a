package dev.puri.client.resolve;

import dev.puri.client.resolve.ResolverException.Kind;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks resolvers over HTTP.
 *
 * <pre>
 * Ref ─▶ malformed? ─▶ cache ─▶ single, no token ─▶ Joiner ─┬▶ Requests ─▶ POST /v1/resolve at Addresses
 *            │           │  └─▶ list, or a token ─▶ limit ──┘       │
 *            ▼           ▼                                          ▼
 *         verdict     verdict ◀── kept if no change passed ◀──── verdicts
 *                        ▲
 *                        └──────── ChangeFeed ◀──────── GET /v1/changes
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
     * Counts of requests since the client was opened.
     *
     * @param requests requests to all addresses
     * @param failedOver requests that were sent because an address failed
     * @param hedged requests that were sent because an address was silent
     * @param pending references asked, and neither answered nor given up yet
     * @param sinceAnswer how long ago a resolver last answered with verdicts; null if none has
     */
    public record RequestStatistics(
            long requests,
            long failedOver,
            long hedged,
            int pending,
            @Nullable Duration sinceAnswer) {}

    private ResolverClient(ResolverOptions options) {
        this.options = options;
        // HTTP/1.1, so that a cancelled request ends its own connection and holds up no other.
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
                options.maxBatch(), options.maxJoinedRequests(), options.deadline(), System::nanoTime, this::askJoined);
        if (options.cacheSize() > 0) {
            cache = new RowCache(options.cacheSize(), options.replicaLag(), System::nanoTime);
            // Addresses of its own: one that refuses the feed, for lack of a scope, may still answer look-ups.
            feed = new ChangeFeed(
                    http,
                    options,
                    new Addresses(options.addresses(), System::nanoTime),
                    timer,
                    System::nanoTime,
                    cache);
        } else {
            cache = null;
            feed = null;
        }
    }

    /** Opens a client; it connects in the background. */
    public static ResolverClient open(ResolverOptions options) {
        ResolverClient client = new ResolverClient(options);
        if (client.feed != null) {
            client.feed.connect();
        }
        return client;
    }

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration longest) {
        Ref.requireRef(ref);
        Duration wait = bounded(longest);
        Verdict known = known(ref);
        if (known != null) {
            return CompletableFuture.completedStage(known);
        }
        if (!admit(1)) {
            return CompletableFuture.failedStage(full(1));
        }
        CompletableFuture<Verdict> answer =
                ref.at() == null ? joiner.add(ref) : ask(List.of(ref), wait).thenApply(verdicts -> verdicts.get(0));
        return limited(releasing(answer, 1).copy(), ref.at() == null ? Duration.ZERO : wait);
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration longest) {
        Ref.requireRefs(refs);
        Duration wait = bounded(longest);
        List<@Nullable Verdict> verdicts = new ArrayList<>(refs.size());
        List<Integer> missing = new ArrayList<>();
        for (int i = 0; i < refs.size(); i++) {
            Verdict known = known(refs.get(i));
            verdicts.add(known);
            if (known == null) {
                missing.add(i);
            }
        }
        if (missing.isEmpty()) {
            return CompletableFuture.completedStage(complete(verdicts));
        }
        if (!admit(missing.size())) {
            return CompletableFuture.failedStage(full(missing.size()));
        }
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        for (int from = 0; from < missing.size(); from += options.maxBatch()) {
            List<Integer> part = missing.subList(from, Math.min(missing.size(), from + options.maxBatch()));
            CompletableFuture<List<Verdict>> asked =
                    releasing(ask(part.stream().map(refs::get).toList(), wait), part.size());
            parts.add(asked.thenAccept(answers -> {
                for (int i = 0; i < answers.size(); i++) {
                    verdicts.set(part.get(i), answers.get(i));
                }
            }));
        }
        CompletableFuture<List<Verdict>> all =
                CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(done -> complete(verdicts));
        return limited(all, wait);
    }

    /** A wait between zero and one whose nanoseconds fit into a long. */
    private static Duration bounded(Duration wait) {
        return wait.isNegative() ? Duration.ZERO : shorter(wait, MAX_WAIT);
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** The verdicts when none is null any more. */
    private static List<Verdict> complete(List<@Nullable Verdict> verdicts) {
        List<Verdict> all = new ArrayList<>(verdicts.size());
        for (Verdict each : verdicts) {
            if (each == null) {
                throw new IllegalStateException("a reference without a verdict");
            }
            all.add(each);
        }
        return List.copyOf(all);
    }

    /** The verdict that is known without a resolver; null if one has to be asked. */
    private @Nullable Verdict known(Ref ref) {
        String flaw = ref.flaw();
        if (flaw != null) {
            return new Verdict.Malformed(ref, flaw);
        }
        return cache == null ? null : cache.get(ref);
    }

    private boolean admit(int refs) {
        if (pending.addAndGet(refs) <= options.maxPending()) {
            return true;
        }
        pending.addAndGet(-refs);
        return false;
    }

    /** Ends the pending state of references with their answer, not earlier when their caller gives up: they still use resources. */
    private <T> CompletableFuture<T> releasing(CompletableFuture<T> answer, int refs) {
        return answer.whenComplete((value, error) -> pending.addAndGet(-refs));
    }

    private ResolverException full(int refs) {
        return new ResolverException(
                Kind.FULL,
                refs + " more references would be pending beside " + pending.get() + "; at most " + options.maxPending()
                        + " may be (maxPending)");
    }

    private CompletableFuture<List<Verdict>> askJoined(List<Ref> refs) {
        return ask(refs, () -> requests.send(refs, Duration.ZERO));
    }

    private CompletableFuture<List<Verdict>> ask(List<Ref> refs, Duration wait) {
        return ask(refs, wait, System.nanoTime() + wait.toNanos());
    }

    /**
     * Asks in several requests if the wait is longer than a resolver accepts. The requests are at most so many as the wait needs, also if
     * a resolver answers each at once; and none begins after the end of the wait, also if each takes longer than its part.
     */
    private CompletableFuture<List<Verdict>> ask(List<Ref> refs, Duration wait, long endsAt) {
        Duration part = shorter(wait, options.maxWait());
        CompletableFuture<List<Verdict>> answer = ask(refs, () -> requests.sendLimited(refs, part));
        Duration rest = wait.minus(part);
        if (rest.isZero()) {
            return answer;
        }
        return answer.thenCompose(verdicts -> {
            Duration next = shorter(rest, Duration.ofNanos(endsAt - System.nanoTime()));
            boolean asksAgain = next.compareTo(Duration.ZERO) > 0
                    && verdicts.stream().anyMatch(Verdict.NotCaughtUp.class::isInstance);
            return asksAgain ? ask(refs, next, endsAt) : CompletableFuture.completedFuture(verdicts);
        });
    }

    private CompletableFuture<List<Verdict>> ask(List<Ref> refs, Supplier<CompletableFuture<Requests.Answer>> request) {
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

    /** Fails a look-up at its deadline. That of a request does not suffice, because a look-up may be gathered before it is sent. */
    private <T> CompletionStage<T> limited(CompletableFuture<T> answer, Duration wait) {
        Duration limit = wait.plus(options.deadline());
        CompletableFuture<T> limited = new CompletableFuture<>();
        var unused = answer.orTimeout(limit.toNanos(), TimeUnit.NANOSECONDS).whenComplete((value, error) -> {
            if (error == null) {
                limited.complete(value);
            } else if (error instanceof TimeoutException) {
                limited.completeExceptionally(new ResolverException(
                        Kind.DEADLINE, "no resolver answered within " + limit.toMillis() + " ms", error));
            } else {
                limited.completeExceptionally(
                        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error);
            }
        });
        return limited.minimalCompletionStage();
    }

    /** Counts and state of the cache and its feed. */
    public CacheStatistics cacheStatistics() {
        return feed == null
                ? new CacheStatistics(0, 0, 0, 0, 0, 0, 0, 0, CacheStatistics.Feed.OFF, null)
                : feed.statistics();
    }

    /** Counts of requests. */
    public RequestStatistics requestStatistics() {
        return new RequestStatistics(
                requests.sent(), requests.failedOver(), requests.hedged(), pending.get(), requests.sinceAnswer());
    }

    /** Fails pending look-ups and frees all threads. On Java 17 the garbage collector frees those of the JDK's HTTP client. */
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
                throw new IllegalStateException("an HTTP client does not close", e);
            }
        }
    }
}
