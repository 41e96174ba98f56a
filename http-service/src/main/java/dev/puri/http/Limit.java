package dev.puri.http;

import java.util.Locale;

/** A bound that a client exceeded, as the metrics count it. */
enum Limit {
    CONNECTIONS,
    HEADERS_TOO_SLOW,
    HEADERS_TOO_LARGE,
    URL_TOO_LONG,
    BODY_TOO_SLOW,
    BODY_TOO_LARGE,
    /** Caused by the server: an endpoint did not respond. */
    ANSWER_TOO_SLOW,
    /** The client did not read its response. */
    ANSWER_UNREAD;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
