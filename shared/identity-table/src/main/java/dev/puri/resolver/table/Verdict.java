package dev.puri.resolver.table;

import java.util.Locale;

/** The result of a look-up. */
public enum Verdict {
    FOUND(200),
    MERGED(200),
    DELETED(410),
    UNKNOWN(404),
    MALFORMED(400),
    /** The registry refused the event of the token. */
    REFUSED(409),
    /** The table did not reach the event of the token before the end of the wait. */
    NOT_CAUGHT_UP(504);

    private final int status;
    private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

    Verdict(int status) {
        this.status = status;
    }

    /** Returns the HTTP status of a response that has only this result. */
    public int status() {
        return status;
    }

    @Override
    public String toString() {
        return text;
    }
}
