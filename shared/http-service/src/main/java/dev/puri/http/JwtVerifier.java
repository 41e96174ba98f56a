package dev.puri.http;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.jwk.source.RateLimitReachedException;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jose.util.health.HealthStatus;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.nimbusds.jwt.proc.ExpiredJWTException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.text.ParseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Verifies signed bearer tokens (JWT, RFC 7519) with the issuer's keys, which it fetches over HTTP. Blocks, so it must
 * be called on a worker thread.
 *
 * <p>The settings determine the algorithms, not the token: a token with {@code none}, or with a public key as an HMAC
 * secret, is refused before a key is looked up (RFC 8725, 3.1).
 */
final class JwtVerifier {
    private static final int CONNECT_MILLIS = 2_000;
    private static final int READ_MILLIS = 2_000;
    private static final int MAX_KEY_SET_BYTES = 1 << 20;

    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

    /** Whether the last fetch returned keys. Otherwise a token with an unknown key may be valid. */
    private volatile boolean hasFetchedKeys;

    /**
     * The times for which fetched keys are used.
     *
     * @param ttl the time after which keys are fetched again
     * @param minInterval the minimum time between two fetches, even if tokens name unknown keys
     * @param outageTtl how long keys are used while the issuer is unreachable
     */
    record KeyCacheTimes(Duration ttl, Duration minInterval, Duration outageTtl) {
        static final KeyCacheTimes DEFAULT =
                new KeyCacheTimes(Duration.ofMinutes(5), Duration.ofSeconds(30), Duration.ofDays(1));
    }

    /** Thrown for a token that is not accepted. The message contains no part of the token. */
    static final class DeniedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final Denial denial;

        DeniedException(Denial denial, String message, @Nullable Throwable cause) {
            super(message, cause);
            this.denial = denial;
        }

        Denial denial() {
            return denial;
        }
    }

    JwtVerifier(URI keys, String issuer, String audience, List<String> algorithms, Duration skew, KeyCacheTimes times) {
        Set<JWSAlgorithm> allowed = algorithms.stream().map(JWSAlgorithm::parse).collect(Collectors.toSet());
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(allowed, source(url(keys), times)));
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        DefaultJWTClaimsVerifier<SecurityContext> claims = new DefaultJWTClaimsVerifier<>(
                Set.of(audience), new JWTClaimsSet.Builder().issuer(issuer).build(), Set.of("exp"), Set.of());
        claims.setMaxClockSkew((int) skew.toSeconds());
        processor.setJWTClaimsSetVerifier(claims);
    }

    private JWKSource<SecurityContext> source(URL url, KeyCacheTimes times) {
        return JWKSourceBuilder.<SecurityContext>create(
                        url, new DefaultResourceRetriever(CONNECT_MILLIS, READ_MILLIS, MAX_KEY_SET_BYTES))
                .cache(times.ttl().toMillis(), CONNECT_MILLIS + READ_MILLIS)
                .rateLimited(times.minInterval().toMillis())
                .refreshAheadCache(false)
                .outageTolerant(times.outageTtl().toMillis())
                .healthReporting(report -> hasFetchedKeys = report.getHealthStatus() == HealthStatus.HEALTHY)
                .build();
    }

    private static URL url(URI keys) {
        try {
            return keys.toURL();
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException("PURI_AUTH_JWKS: " + keys + " cannot be fetched", e);
        }
    }

    /**
     * Verifies a token and returns its permissions.
     *
     * @throws DeniedException if the token is invalid or cannot be verified
     */
    Authorization verify(String token) throws DeniedException {
        try {
            JWTClaimsSet claims = processor.process(token, null);
            Date expires = claims.getExpirationTime();
            String subject = claims.getSubject();
            return new Authorization(
                    subject == null ? "" : subject,
                    scopes(claims),
                    expires.toInstant().getEpochSecond());
        } catch (ExpiredJWTException e) {
            throw new DeniedException(Denial.EXPIRED, "The token has expired.", e);
        } catch (BadJWTException e) {
            throw new DeniedException(
                    Denial.CLAIMS, "The token has a wrong audience or issuer, or is not valid yet.", e);
        } catch (KeySourceException e) {
            if (e instanceof RateLimitReachedException && hasFetchedKeys) {
                throw new DeniedException(Denial.UNKNOWN_KEY, "The key of the token is unknown.", e);
            }
            throw new DeniedException(Denial.NO_KEYS, "The keys of the issuer are unavailable.", e);
        } catch (ParseException | BadJOSEException | JOSEException e) {
            throw new DeniedException(
                    Denial.SIGNATURE, "The signature, algorithm or format of the token is invalid.", e);
        }
    }

    /**
     * Reads the claims {@code scope} (RFC 8693, words in a string) and {@code scp} (of some issuers, words or a list).
     */
    private static Set<Scope> scopes(JWTClaimsSet claims) {
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        for (String claim : List.of("scope", "scp")) {
            Object value = claims.getClaim(claim);
            Collection<?> words = List.of();
            if (value instanceof String text) {
                words = Arrays.asList(text.split(" ", -1));
            } else if (value instanceof Collection<?> list) {
                words = list;
            }
            for (Scope scope : Scope.values()) {
                if (scope != Scope.NONE && words.contains(scope.toString())) {
                    scopes.add(scope);
                }
            }
        }
        return scopes;
    }
}
