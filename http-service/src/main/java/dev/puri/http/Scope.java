package dev.puri.http;

import java.util.Locale;

/** What a caller must be allowed, to be answered on a route. Each route names one; there is no default. */
public enum Scope {
    /** Open to everybody who reaches the listener, whatever security is on. */
    NONE,
    /** Look-ups. */
    RESOLVE,
    /** Streams of changes, and exports of every row. */
    CHANGES,
    /** What tells of the registry as a whole: rejections, statistics, metrics. */
    ADMIN;

    /** As tokens spell it, e.g. {@code resolve}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
