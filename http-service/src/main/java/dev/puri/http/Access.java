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
 * Lets requests in, or not. When security is on, whatever is not open to all needs a bearer token (RFC
 * 6750) that allows its scope.
 *
 * <pre>
 * Authorization ─▶ hash ─▶ static tokens ─▶ verified lately ─▶ JWT, on a thread that may block
 *                             event loop        event loop         at most 1,000 waiting
 * </pre>
 */
final class Access {
    private static final Logger log = LoggerFactory.getLogger(Access.class);
    private static final int MAX_TOKEN_CHARS = 8 << 10;
    private static final int MAX_VERIFYING = 1000;
    private static final int MAX_REMEMBERED = 10_000;
    private static final long MAX_REMEMBERED_SECONDS = 300;
    private static final Duration MAX_VERIFICATION = Duration.ofSeconds(30);
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

    private final Set<Scope> anonymous;
    private final boolean isOn;
    private final @Nullable Path tokensFile;
    private final @Nullable JwtVerifier verifier;
    private final @Nullable WorkerExecutor workers;
    private final InstantSource clock;
    private final GrantedCache verified = new GrantedCache(MAX_REMEMBERED);
    private final AtomicInteger verifying = new AtomicInteger();
    private final Map<Denial, Counter> denied = new EnumMap<>(Denial.class);
    private volatile StaticTokens tokens = StaticTokens.NONE;
    private StaticTokens lastSeen = StaticTokens.NONE;
    private @Nullable String lastMistake;

    /**
     * @throws CannotListenException when the file of tokens cannot be used
     */
    Access(ListenerOptions options, Vertx vertx, Metrics metrics, InstantSource clock, JwtVerifier.KeyTimes times) {
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
                lastSeen = tokens;
            } catch (UnusableFileException e) {
                throw new CannotListenException(String.valueOf(e.getMessage()), e);
            }
        }
    }

    /** Reads the file of tokens again; one that cannot be used changes nothing. To be called on an event loop. */
    void lookAtTokens(Vertx vertx) {
        Path file = tokensFile;
        if (file == null) {
            return;
        }
        vertx.<StaticTokens>executeBlocking(() -> StaticTokens.read(file))
                .onSuccess(read -> {
                    // Seen twice, for a file may be looked at while it is being written.
                    if (read.equals(lastSeen)) {
                        tokens = read;
                    }
                    lastSeen = read;
                    lastMistake = null;
                })
                .onFailure(failure -> {
                    String mistake = String.valueOf(failure.getMessage());
                    if (!mistake.equals(lastMistake)) {
                        log.error("The file of tokens is not taken, the tokens before stay: {}", mistake);
                        lastMistake = mistake;
                    }
                });
    }

    /** Whether everybody may be answered on a route of this scope. */
    boolean isOpen(Scope scope) {
        return !isOn || scope == Scope.NONE || anonymous.contains(scope);
    }

    /**
     * Goes on with the exchange if its token allows the scope, now or later; else answers it.
     *
     * @param then is called on the event loop
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
        Granted granted = tokens.find(hash);
        if (granted == null) {
            granted = verified.find(hash, clock.instant().getEpochSecond());
        }
        if (granted != null) {
            admit(exchange, scope, granted, then);
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
                    remember(hash, done.result());
                    admit(exchange, scope, done.result(), then);
                } else if (done.cause() instanceof JwtVerifier.RefusedException refused) {
                    deny(exchange, scope, refused.denial(), String.valueOf(refused.getMessage()));
                } else {
                    throw new IllegalStateException(done.cause());
                }
            });
        });
    }

    /** Not for long, so that a key that the issuer takes back is soon without effect. */
    private void remember(TokenHash hash, Granted granted) {
        long until = Math.min(granted.expiresAtSeconds(), clock.instant().getEpochSecond() + MAX_REMEMBERED_SECONDS);
        verified.add(hash, new Granted(granted.bearer(), granted.scopes(), until));
    }

    private void admit(Exchange exchange, Scope scope, Granted granted, Runnable then) {
        exchange.bearer(granted.bearer());
        if (granted.scopes().contains(scope)) {
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
