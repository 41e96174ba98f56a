package dev.puri.http;

import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.Setting;
import dev.puri.settings.Settings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Settings of access control. Without a key set and without a file of tokens, no route needs a bearer token. Otherwise
 * every route needs a token, except routes that are open to all, such as health.
 */
public record AuthSettings(
        @Setting(doc = "URL of the key set (JWKS) that verifies bearer tokens.")
        Optional<URI> authJwks,

        @Setting(doc = "Issuer (iss) that bearer tokens must name.")
        Optional<String> authIssuer,

        @Setting(doc = "Audience (aud) that bearer tokens must be for.")
        Optional<String> authAudience,

        @Setting(
                doc = "Accepted signature algorithms, of RS, PS and ES with 256, 384 and 512.",
                byDefault = "RS256,PS256,ES256")
        List<String> authAlgorithms,

        @Setting(
                doc = "Maximum difference between the issuer's clock and this clock.",
                byDefault = "60s",
                atLeast = "0s",
                atMost = "10m")
        Duration authClockSkew,

        @Setting(doc = "File of static tokens, one line for each: NAME SCOPE,SCOPE SHA-256-IN-HEX.")
        Optional<Path> authTokens) {
    /** Asymmetric algorithms only: with a symmetric key, anybody who can verify tokens can also sign tokens. */
    private static final Set<String> ALGORITHMS =
            Set.of("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512");

    /** No access control. */
    public static final AuthSettings OFF = Settings.read(AuthSettings.class, Map.of(), Map.of(), null);

    /**
     * @throws IllegalArgumentException if the combination could accept tokens that are not meant for this server
     */
    public AuthSettings {
        authAlgorithms = List.copyOf(authAlgorithms);
        List<String> mistakes = new ArrayList<>();
        if (authJwks.isPresent() && (authIssuer.isEmpty() || authAudience.isEmpty())) {
            mistakes.add(
                    "PURI_AUTH_JWKS: needs PURI_AUTH_ISSUER and PURI_AUTH_AUDIENCE, or tokens for others are valid");
        }
        if (authJwks.isEmpty() && (authIssuer.isPresent() || authAudience.isPresent())) {
            mistakes.add("PURI_AUTH_ISSUER and PURI_AUTH_AUDIENCE: have no effect without PURI_AUTH_JWKS");
        }
        for (String algorithm : authAlgorithms) {
            if (!ALGORITHMS.contains(algorithm)) {
                mistakes.add(
                        "PURI_AUTH_ALGORITHMS: \"" + algorithm + "\" is not one of RS, PS and ES with 256, 384 or 512");
            }
        }
        InvalidSettingsException.throwIfAny(mistakes);
    }

    /** Returns whether routes need tokens. */
    public boolean isOn() {
        return authJwks.isPresent() || authTokens.isPresent();
    }
}
