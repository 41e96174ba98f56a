package dev.puri.resolver.table;

import java.util.Locale;

/** The result of a look-up, with its HTTP status. */
public enum Verdict {
    FOUND(200),
    MERGED(200),
    DELETED(410),
    UNKNOWN(404),
    MALFORMED(400),
    /** The event of the token was refused. */
    REFUSED(409),
    /** The table has not seen the event of the token by the end of the wait. */
    NOT_CAUGHT_UP(504);

    private final int status;
    private final String text = name().toLowerCase(Locale.ROOT).replace('_', '-');

    Verdict(int status) {
        this.status = status;
    }

    /** The HTTP status of a response with this result alone. */
    public int status() {
        return status;
    }

    @Override
    public String toString() {
        return text;
    }
}
