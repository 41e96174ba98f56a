package dev.puri.http;

import java.util.Locale;

/** A limit of a listener. Metrics count how often each limit is exceeded. */
enum Limit {
    CONNECTIONS,
    HEADERS_TOO_SLOW,
    HEADERS_TOO_LARGE,
    URL_TOO_LONG,
    BODY_TOO_SLOW,
    BODY_TOO_LARGE,
    /** An endpoint did not respond in time. The cause is in the server, not the client. */
    ANSWER_TOO_SLOW,
    /** The client did not read the response in time. */
    ANSWER_UNREAD;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
