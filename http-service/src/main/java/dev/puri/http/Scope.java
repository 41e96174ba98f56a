package dev.puri.http;

import java.util.Locale;

/** A permission of tokens. Each route requires one; there is no default. */
public enum Scope {
    /** No token required, even if security is on. */
    NONE,
    /** Look-ups. */
    RESOLVE,
    /** Streams of changes, and exports of every row. */
    CHANGES,
    /** Data about the registry as a whole: rejections, statistics, metrics. */
    ADMIN;

    /** The spelling in tokens, e.g. {@code resolve}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
