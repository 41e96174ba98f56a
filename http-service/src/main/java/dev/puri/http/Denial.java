package dev.puri.http;

import java.util.Locale;

/** Why a request was not authorized, as the metrics count it. */
enum Denial {
    /** There is no token. */
    MISSING,
    /** The header is not a well-formed bearer token. */
    MALFORMED,
    /** The token is not a static token, and JWTs are not configured. */
    UNKNOWN,
    /** The token has expired. */
    EXPIRED,
    /** The signature is valid, but the audience, the issuer or the start of validity is wrong. */
    CLAIMS,
    /** The signature, algorithm or form is invalid. */
    SIGNATURE,
    /** The key is not among the issuer's keys. */
    UNKNOWN_KEY,
    /** The issuer's keys are unavailable. */
    NO_KEYS,
    /** Too many tokens wait for verification. */
    BUSY,
    /** The token is valid, but does not have the scope. */
    SCOPE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
