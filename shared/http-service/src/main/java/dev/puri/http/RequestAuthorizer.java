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
 * Authorizes requests. If access control is on, a route that is not open needs a bearer token (RFC 6750) with the
 * route's scope.
 *
 * <pre>
 * Authorization ─▶ hash ─▶ static tokens ─▶ verified tokens ─▶ JWT, on a worker thread
 *                             event loop        event loop         at most 1,000 waiting
 * </pre>
 */
final class RequestAuthorizer {
    private static final Logger log = LoggerFactory.getLogger(RequestAuthorizer.class);
    private static final int MAX_HEADER_CHARS = 8 << 10;
    private static final int MAX_PENDING_VERIFICATIONS = 1000;
    private static final int MAX_CACHED_TOKENS = 10_000;
    private static final long MAX_CACHED_SECONDS = 300;
    private static final Duration MAX_VERIFICATION_TIME = Duration.ofSeconds(30);
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

    private final Set<Scope> anonymousScopes;
    private final boolean isOn;
    private final @Nullable Path tokensFile;
    private final @Nullable JwtVerifier verifier;
    private final @Nullable WorkerExecutor workers;
    private final InstantSource clock;
    private final VerifiedTokens verifiedTokens =
            new VerifiedTokens(MAX_CACHED_TOKENS, Duration.ofSeconds(MAX_CACHED_SECONDS));
    private final AtomicInteger pendingVerifications = new AtomicInteger();
    private final Map<Denial, Counter> deniedCounters = new EnumMap<>(Denial.class);
    private volatile StaticTokens tokens = StaticTokens.NONE;
    private StaticTokens lastReadTokens = StaticTokens.NONE;
    private @Nullable String lastError;

    /**
     * @throws CannotListenException if the file of tokens is unusable
     */
    RequestAuthorizer(
            ListenerOptions options,
            Vertx vertx,
            Metrics metrics,
            InstantSource clock,
            JwtVerifier.KeyCacheTimes times) {
        AuthSettings settings = options.http().auth();
        this.anonymousScopes = options.anonymous();
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
                    "puri-auth-" + options.name(), 2, MAX_VERIFICATION_TIME.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            verifier = null;
            workers = null;
        }
        for (Denial denial : Denial.values()) {
            deniedCounters.put(
                    denial,
                    Counter.builder("puri.auth.denied")
                            .description("Requests that were denied access, by reason")
                            .tag("listener", options.name())
                            .tag("reason", denial.toString())
                            .register(metrics.registry()));
        }
        if (tokensFile != null) {
            try {
                tokens = StaticTokens.read(tokensFile);
                lastReadTokens = tokens;
            } catch (UnusableFileException e) {
                throw new CannotListenException(String.valueOf(e.getMessage()), e);
            }
        }
    }

    /**
     * Reads the file of tokens again. If it is unusable, the previous tokens stay in use. Must be called on an event
     * loop.
     */
    void reloadTokens(Vertx vertx) {
        Path file = tokensFile;
        if (file == null) {
            return;
        }
        vertx.<StaticTokens>executeBlocking(() -> StaticTokens.read(file))
                .onSuccess(newTokens -> {
                    // The file may be read while it is written. So its tokens apply only after two equal reads.
                    if (newTokens.equals(lastReadTokens)) {
                        tokens = newTokens;
                    }
                    lastReadTokens = newTokens;
                    lastError = null;
                })
                .onFailure(failure -> {
                    String error = String.valueOf(failure.getMessage());
                    if (!error.equals(lastError)) {
                        log.error("The file of tokens is unusable; the previous tokens stay in use: {}", error);
                        lastError = error;
                    }
                });
    }

    /** Returns whether routes of this scope need no token. */
    boolean isOpen(Scope scope) {
        return !isOn || scope == Scope.NONE || anonymousScopes.contains(scope);
    }

    /**
     * Calls {@code onAdmitted} if the request's token has the scope; otherwise responds with a problem.
     *
     * @param onAdmitted called on the event loop, now or after the token is verified
     */
    void admit(Exchange exchange, Scope scope, Runnable onAdmitted) {
        List<String> headers = exchange.requestHeaders("Authorization");
        if (headers.isEmpty()) {
            deny(exchange, scope, Denial.MISSING, "The request needs a bearer token.");
            return;
        }
        String token = headers.size() == 1 ? bearerToken(headers.getFirst()) : null;
        if (token == null) {
            deny(
                    exchange,
                    scope,
                    Denial.MALFORMED,
                    "The request must have one Authorization header, with the value \"Bearer TOKEN\".");
            return;
        }
        TokenHash hash = TokenHash.of(token);
        Authorization authorization = tokens.find(hash);
        if (authorization == null) {
            authorization = verifiedTokens.find(hash, clock.instant().getEpochSecond());
        }
        if (authorization != null) {
            admit(exchange, scope, authorization, onAdmitted);
        } else if (verifier == null || workers == null) {
            deny(exchange, scope, Denial.UNKNOWN, "The token is unknown.");
        } else {
            verify(exchange, scope, verifier, workers, token, hash, onAdmitted);
        }
    }

    private static @Nullable String bearerToken(String header) {
        if (header.length() > MAX_HEADER_CHARS || !header.regionMatches(true, 0, "Bearer ", 0, 7)) {
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
            Runnable onAdmitted) {
        if (pendingVerifications.incrementAndGet() > MAX_PENDING_VERIFICATIONS) {
            pendingVerifications.decrementAndGet();
            deny(exchange, scope, Denial.BUSY, "Too many tokens are being verified.");
            return;
        }
        exchange.pauseBody();
        executor.executeBlocking(() -> jwt.verify(token), false).onComplete(verification -> {
            pendingVerifications.decrementAndGet();
            exchange.runOnEventLoop(() -> {
                exchange.resumeBody();
                if (verification.succeeded()) {
                    cacheAuthorization(hash, verification.result());
                    admit(exchange, scope, verification.result(), onAdmitted);
                } else if (verification.cause() instanceof JwtVerifier.DeniedException denied) {
                    deny(exchange, scope, denied.denial(), String.valueOf(denied.getMessage()));
                } else {
                    throw new IllegalStateException(verification.cause());
                }
            });
        });
    }

    /** Caches the authorization for at most 5 minutes, because the issuer may revoke the key that signed the token. */
    private void cacheAuthorization(TokenHash hash, Authorization authorization) {
        long expiresAtSeconds =
                Math.min(authorization.expiresAtSeconds(), clock.instant().getEpochSecond() + MAX_CACHED_SECONDS);
        verifiedTokens.add(
                hash, new Authorization(authorization.callerName(), authorization.scopes(), expiresAtSeconds));
    }

    private void admit(Exchange exchange, Scope scope, Authorization authorization, Runnable onAdmitted) {
        exchange.setCaller(authorization.callerName());
        if (authorization.scopes().contains(scope)) {
            onAdmitted.run();
        } else {
            deny(exchange, scope, Denial.SCOPE, "The token does not allow " + scope + '.');
        }
    }

    private void deny(Exchange exchange, Scope scope, Denial denial, String detail) {
        Objects.requireNonNull(deniedCounters.get(denial)).increment();
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
