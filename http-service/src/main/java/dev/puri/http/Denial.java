package dev.puri.http;

import java.util.Locale;

/** Why a request was not let in, as the metrics count it. */
enum Denial {
    /** It has no token. */
    MISSING,
    /** What it has is not in the form of a bearer token. */
    MALFORMED,
    /** It is none of the static tokens, and there are no others. */
    UNKNOWN,
    /** It was good once. */
    EXPIRED,
    /** Signed by whom it should be, but for others, by another issuer or for later. */
    CLAIMS,
    /** Its signature, algorithm or form is wrong. */
    SIGNATURE,
    /** Its key is not among the issuer's. */
    UNKNOWN_KEY,
    /** It cannot be told, for the issuer's keys cannot be had. */
    NO_KEYS,
    /** It cannot be told now, for there are too many to verify. */
    BUSY,
    /** It is good, and allows something else. */
    SCOPE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
