package dev.puri.resolver.table;

import java.util.Locale;

/** What a look-up comes to, with the status it has when it stands alone. */
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

    /** The status that it has alone. */
    public int status() {
        return status;
    }

    @Override
    public String toString() {
        return text;
    }
}
