package dev.puri.http;

import java.util.Locale;

/** A bound that a client ran into, as the metrics count it. */
enum Limit {
    CONNECTIONS,
    HEADERS_TOO_SLOW,
    HEADERS_TOO_LARGE,
    URL_TOO_LONG,
    BODY_TOO_SLOW,
    BODY_TOO_LARGE,
    /** Ours, not the client's: an endpoint did not answer. */
    ANSWER_TOO_SLOW,
    /** The client did not take what it was answered. */
    ANSWER_UNREAD;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
