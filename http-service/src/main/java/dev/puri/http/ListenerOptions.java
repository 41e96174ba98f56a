package dev.puri.http;

import java.util.Set;

/**
 * Where a listener listens, and the bounds of what it takes.
 *
 * @param name tells it apart in metrics and logs from others of the process, e.g. {@code internal}
 * @param host address or name to bind
 * @param port 0 for any free one
 * @param eventLoops threads that answer, at least 1
 * @param maxBodyBytes most bytes of a request's body
 * @param http every other bound, and what guards it
 * @param anonymous what callers may without a token, where others need one
 */
public record ListenerOptions(
        String name, String host, int port, int eventLoops, int maxBodyBytes, HttpSettings http, Set<Scope> anonymous) {
    public ListenerOptions {
        anonymous = Set.copyOf(anonymous);
    }

    /** Bounds that fit an API of small requests; named {@code internal}; one thread a core. */
    public static ListenerOptions at(String host, int port) {
        int cores = Runtime.getRuntime().availableProcessors();
        return new ListenerOptions("internal", host, port, cores, 1 << 20, HttpSettings.DEFAULT, Set.of());
    }

    /** The same under another name. */
    public ListenerOptions named(String other) {
        return new ListenerOptions(other, host, port, eventLoops, maxBodyBytes, http, anonymous);
    }

    /** The same with one thread, for health and metrics alone. */
    public ListenerOptions onOneThread() {
        return new ListenerOptions(name, host, port, 1, maxBodyBytes, http, anonymous);
    }

    /** The same with another bound on bodies. */
    public ListenerOptions withMaxBodyBytes(int bytes) {
        return new ListenerOptions(name, host, port, eventLoops, bytes, http, anonymous);
    }

    /** The same with what has been set. */
    public ListenerOptions with(HttpSettings settings) {
        return new ListenerOptions(name, host, port, eventLoops, maxBodyBytes, settings, anonymous);
    }

    /** The same, open to everybody for these scopes, whatever security is on. */
    public ListenerOptions openTo(Scope... scopes) {
        return new ListenerOptions(name, host, port, eventLoops, maxBodyBytes, http, Set.of(scopes));
    }

    HttpLimits limits() {
        return http.limits();
    }
}
