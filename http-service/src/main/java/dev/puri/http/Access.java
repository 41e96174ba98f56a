package dev.puri.http;

import io.micrometer.core.instrument.Counter;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authorizes requests. If security is on, a route that is not open needs a bearer token (RFC 6750) with the route's
 * scope.
 *
 * <pre>
 * Authorization ─▶ hash ─▶ static tokens ─▶ verified tokens ─▶ JWT, on a worker thread
 *                             event loop        event loop         at most 1,000 waiting
 * </pre>
 */
final class Access {
    private static final Logger log = LoggerFactory.getLogger(Access.class);
    private static final int MAX_TOKEN_CHARS = 8 << 10;
    private static final int MAX_VERIFYING = 1000;
    private static final int MAX_CACHED = 10_000;
    private static final long MAX_CACHED_SECONDS = 300;
    private static final Duration MAX_VERIFICATION = Duration.ofSeconds(30);
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

    private final Set<Scope> anonymous;
    private final boolean isOn;
    private final @Nullable Path tokensFile;
    private final @Nullable JwtVerifier verifier;
    private final @Nullable WorkerExecutor workers;
    private final InstantSource clock;
    private final VerifiedTokens verified = new VerifiedTokens(MAX_CACHED, Duration.ofSeconds(MAX_CACHED_SECONDS));
    private final AtomicInteger verifying = new AtomicInteger();
    private final Map<Denial, Counter> denied = new EnumMap<>(Denial.class);
    private volatile StaticTokens tokens = StaticTokens.NONE;
    private StaticTokens lastRead = StaticTokens.NONE;
    private @Nullable String lastMistake;

    /**
     * @throws CannotListenException if the file of tokens is unusable
     */
    Access(
            ListenerOptions options,
            Vertx vertx,
            Metrics metrics,
            InstantSource clock,
            JwtVerifier.KeyCacheTimes times) {
        AuthSettings settings = options.http().auth();
        this.anonymous = options.anonymous();
        this.isOn = settings.isOn();
        this.clock = clock;
        this.tokensFile = settings.authTokens().orElse(null);
        if (settings.authJwks().isPresent()) {
            verifier = new JwtVerifier(
                    settings.authJwks().get(),
                    settings.authIssuer().orElseThrow(),
                    settings.authAudience().orElseThrow(),
                    settings.authAlgorithms(),
                    settings.authClockSkew(),
                    times);
            workers = vertx.createSharedWorkerExecutor(
                    "puri-auth-" + options.name(), 2, MAX_VERIFICATION.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            verifier = null;
            workers = null;
        }
        for (Denial denial : Denial.values()) {
            denied.put(
                    denial,
                    Counter.builder("puri.auth.denied")
                            .description("Requests not let in, by reason")
                            .tag("listener", options.name())
                            .tag("reason", denial.toString())
                            .register(metrics.registry()));
        }
        if (tokensFile != null) {
            try {
                tokens = StaticTokens.read(tokensFile);
                lastRead = tokens;
            } catch (UnusableFileException e) {
                throw new CannotListenException(String.valueOf(e.getMessage()), e);
            }
        }
    }

    /** Reads the file of tokens again; keeps the previous tokens if it is unusable. Must be called on an event loop. */
    void reloadTokens(Vertx vertx) {
        Path file = tokensFile;
        if (file == null) {
            return;
        }
        vertx.<StaticTokens>executeBlocking(() -> StaticTokens.read(file))
                .onSuccess(read -> {
                    // Applied only if two reads are equal, because the file may be read while it is written.
                    if (read.equals(lastRead)) {
                        tokens = read;
                    }
                    lastRead = read;
                    lastMistake = null;
                })
                .onFailure(failure -> {
                    String mistake = String.valueOf(failure.getMessage());
                    if (!mistake.equals(lastMistake)) {
                        log.error("The file of tokens is unusable; the previous tokens stay in use: {}", mistake);
                        lastMistake = mistake;
                    }
                });
    }

    /** Whether routes of this scope need no token. */
    boolean isOpen(Scope scope) {
        return !isOn || scope == Scope.NONE || anonymous.contains(scope);
    }

    /**
     * Calls {@code then} if the request's token has the scope; else responds with a problem.
     *
     * @param then called on the event loop, now or after the token is verified
     */
    void admit(Exchange exchange, Scope scope, Runnable then) {
        List<String> headers = exchange.requestHeaders("Authorization");
        if (headers.isEmpty()) {
            deny(exchange, scope, Denial.MISSING, "This needs a bearer token.");
            return;
        }
        String token = headers.size() == 1 ? bearerToken(headers.getFirst()) : null;
        if (token == null) {
            deny(exchange, scope, Denial.MALFORMED, "The header Authorization is not Bearer and one token.");
            return;
        }
        TokenHash hash = TokenHash.of(token);
        Authorization authorization = tokens.find(hash);
        if (authorization == null) {
            authorization = verified.find(hash, clock.instant().getEpochSecond());
        }
        if (authorization != null) {
            admit(exchange, scope, authorization, then);
        } else if (verifier == null || workers == null) {
            deny(exchange, scope, Denial.UNKNOWN, "The token is not known.");
        } else {
            verify(exchange, scope, verifier, workers, token, hash, then);
        }
    }

    private static @Nullable String bearerToken(String header) {
        if (header.length() > MAX_TOKEN_CHARS || !header.regionMatches(true, 0, "Bearer ", 0, 7)) {
            return null;
        }
        String token = header.substring(7).strip();
        return TOKEN.matcher(token).matches() ? token : null;
    }

    private void verify(
            Exchange exchange,
            Scope scope,
            JwtVerifier jwt,
            WorkerExecutor executor,
            String token,
            TokenHash hash,
            Runnable then) {
        if (verifying.incrementAndGet() > MAX_VERIFYING) {
            verifying.decrementAndGet();
            deny(exchange, scope, Denial.BUSY, "Too many tokens are being verified.");
            return;
        }
        exchange.pauseBody();
        executor.executeBlocking(() -> jwt.verify(token), false).onComplete(done -> {
            verifying.decrementAndGet();
            exchange.later(() -> {
                exchange.resumeBody();
                if (done.succeeded()) {
                    cache(hash, done.result());
                    admit(exchange, scope, done.result(), then);
                } else if (done.cause() instanceof JwtVerifier.RefusedException refused) {
                    deny(exchange, scope, refused.denial(), String.valueOf(refused.getMessage()));
                } else {
                    throw new IllegalStateException(done.cause());
                }
            });
        });
    }

    /** Caches for a short time only, so that a key that the issuer revokes loses its effect soon. */
    private void cache(TokenHash hash, Authorization authorization) {
        long until = Math.min(authorization.expiresAtSeconds(), clock.instant().getEpochSecond() + MAX_CACHED_SECONDS);
        verified.add(hash, new Authorization(authorization.callerName(), authorization.scopes(), until));
    }

    private void admit(Exchange exchange, Scope scope, Authorization authorization, Runnable then) {
        exchange.setCaller(authorization.callerName());
        if (authorization.scopes().contains(scope)) {
            then.run();
        } else {
            deny(exchange, scope, Denial.SCOPE, "The token does not allow " + scope + '.');
        }
    }

    private void deny(Exchange exchange, Scope scope, Denial denial, String detail) {
        Objects.requireNonNull(denied.get(denial)).increment();
        switch (denial) {
            case MISSING ->
                exchange.header("WWW-Authenticate", "Bearer realm=\"puri\"")
                        .problem(Problem.of(ProblemType.UNAUTHENTICATED, detail));
            case MALFORMED, UNKNOWN, EXPIRED, CLAIMS, SIGNATURE, UNKNOWN_KEY ->
                exchange.header("WWW-Authenticate", "Bearer realm=\"puri\", error=\"invalid_token\"")
                        .problem(Problem.of(ProblemType.UNAUTHENTICATED, detail));
            case SCOPE ->
                exchange.header(
                                "WWW-Authenticate",
                                "Bearer realm=\"puri\", error=\"insufficient_scope\", scope=\"" + scope + '"')
                        .problem(Problem.of(ProblemType.FORBIDDEN, detail).with("scope", scope.toString()));
            case NO_KEYS, BUSY ->
                exchange.header("Retry-After", "1").problem(Problem.of(ProblemType.CANNOT_VERIFY, detail));
        }
    }
}
