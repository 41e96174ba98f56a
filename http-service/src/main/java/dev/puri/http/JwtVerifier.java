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
 * Verifies signed tokens (JWT, RFC 7519) with the keys of an issuer, which it asks for over HTTP. Blocks,
 * so it must be called on a thread that may.
 *
 * <p>The algorithms are ours to name, never the token's: one that says {@code none}, or takes our public
 * key for a shared secret, is refused before any key is looked for (RFC 8725, 3.1).
 */
final class JwtVerifier {
    private static final int CONNECT_MILLIS = 2_000;
    private static final int READ_MILLIS = 2_000;
    private static final int MAX_KEY_SET_BYTES = 1 << 20;

    private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();

    /**
     * How long keys serve.
     *
     * @param fresh after which they are asked for again
     * @param interval least time between two askings, whatever unknown keys tokens name
     * @param outage how long they serve while the issuer is away
     */
    record KeyTimes(Duration fresh, Duration interval, Duration outage) {
        static final KeyTimes DEFAULT = new KeyTimes(Duration.ofMinutes(5), Duration.ofSeconds(30), Duration.ofDays(1));
    }

    /** A token that is not to be believed. The message names the rule and nothing of the token. */
    static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final Denial denial;

        RefusedException(Denial denial, String message, @Nullable Throwable cause) {
            super(message, cause);
            this.denial = denial;
        }

        Denial denial() {
            return denial;
        }
    }

    JwtVerifier(URI keys, String issuer, String audience, List<String> algorithms, Duration skew, KeyTimes times) {
        Set<JWSAlgorithm> pinned = algorithms.stream().map(JWSAlgorithm::parse).collect(Collectors.toSet());
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(pinned, source(url(keys), times)));
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        DefaultJWTClaimsVerifier<SecurityContext> claims = new DefaultJWTClaimsVerifier<>(
                Set.of(audience), new JWTClaimsSet.Builder().issuer(issuer).build(), Set.of("exp"), Set.of());
        claims.setMaxClockSkew((int) skew.toSeconds());
        processor.setJWTClaimsSetVerifier(claims);
    }

    private static JWKSource<SecurityContext> source(URL url, KeyTimes times) {
        return JWKSourceBuilder.<SecurityContext>create(
                        url, new DefaultResourceRetriever(CONNECT_MILLIS, READ_MILLIS, MAX_KEY_SET_BYTES))
                .cache(times.fresh().toMillis(), CONNECT_MILLIS + READ_MILLIS)
                .rateLimited(times.interval().toMillis())
                .refreshAheadCache(false)
                .outageTolerant(times.outage().toMillis())
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
     * @throws RefusedException when it is not to be believed, or cannot be told
     */
    Granted verify(String token) throws RefusedException {
        try {
            JWTClaimsSet claims = processor.process(token, null);
            Date expires = claims.getExpirationTime();
            String subject = claims.getSubject();
            return new Granted(
                    subject == null ? "" : subject,
                    scopes(claims),
                    expires.toInstant().getEpochSecond());
        } catch (ExpiredJWTException e) {
            throw new RefusedException(Denial.EXPIRED, "The token has expired.", e);
        } catch (BadJWTException e) {
            throw new RefusedException(
                    Denial.CLAIMS, "The token is not for here, not from the issuer, or not yet good.", e);
        } catch (RateLimitReachedException e) {
            throw new RefusedException(Denial.UNKNOWN_KEY, "The token's key is not known.", e);
        } catch (KeySourceException e) {
            throw new RefusedException(Denial.NO_KEYS, "The issuer's keys cannot be had.", e);
        } catch (ParseException | BadJOSEException | JOSEException e) {
            throw new RefusedException(Denial.SIGNATURE, "The token's signature, algorithm or form is wrong.", e);
        }
    }

    /** RFC 8693's {@code scope}, words in a string, or {@code scp} as some issuers have it, words or a list. */
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
