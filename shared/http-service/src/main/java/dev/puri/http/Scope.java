package dev.puri.http;

import java.util.Locale;

/** A permission that a bearer token grants. Each route names one; {@link #NONE} if it needs no token. */
public enum Scope {
    /** No token required, even if access control is on. */
    NONE,
    /** Look-ups. */
    RESOLVE,
    /** Streams of changes, and exports of every row. */
    CHANGES,
    /** Data about the registry as a whole: rejections, statistics, metrics. */
    ADMIN;

    /** Returns the scope's name in bearer tokens, e.g. {@code resolve}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
