package dev.puri.http;

import java.util.Locale;

/** The reason why a request was not authorized; a tag of a metric. */
enum Denial {
    /** The request has no token. */
    MISSING,
    /** The header is not a well-formed bearer token. */
    MALFORMED,
    /** The token is not a known static token, and JWTs are not configured. */
    UNKNOWN,
    /** The token has expired. */
    EXPIRED,
    /** The signature is valid, but the audience, the issuer or the start of validity is wrong. */
    CLAIMS,
    /** The signature, algorithm or format is invalid. */
    SIGNATURE,
    /** The key is not among the issuer's keys. */
    UNKNOWN_KEY,
    /** The issuer's keys are unavailable. */
    NO_KEYS,
    /** Too many tokens wait for verification. */
    BUSY,
    /** The token is valid, but does not have the required scope. */
    SCOPE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
