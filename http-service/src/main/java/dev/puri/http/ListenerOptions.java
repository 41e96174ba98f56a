package dev.puri.http;

import java.util.Set;

/**
 * The address and bounds of a listener.
 *
 * @param name identifies the listener in metrics and logs, e.g. {@code internal}
 * @param host address or name to bind
 * @param port 0 for any free one
 * @param eventLoops number of event loop threads, at least 1
 * @param maxBodyBytes most bytes of a request's body
 * @param http other bounds, TLS and access
 * @param anonymous scopes that need no token even if security is on
 */
public record ListenerOptions(
        String name, String host, int port, int eventLoops, int maxBodyBytes, HttpSettings http, Set<Scope> anonymous) {
    public ListenerOptions {
        anonymous = Set.copyOf(anonymous);
    }

    /** Returns options for an API of small requests: named {@code internal}, one thread per core. */
    public static ListenerOptions at(String host, int port) {
        int cores = Runtime.getRuntime().availableProcessors();
        return new ListenerOptions("internal", host, port, cores, 1 << 20, HttpSettings.DEFAULT, Set.of());
    }

    /** Returns these options with another name. */
    public ListenerOptions named(String other) {
        return new ListenerOptions(other, host, port, eventLoops, maxBodyBytes, http, anonymous);
    }

    /** Returns these options with one thread, for a listener with only health and metrics. */
    public ListenerOptions onOneThread() {
        return new ListenerOptions(name, host, port, 1, maxBodyBytes, http, anonymous);
    }

    /** Returns these options with another bound on bodies. */
    public ListenerOptions withMaxBodyBytes(int bytes) {
        return new ListenerOptions(name, host, port, eventLoops, bytes, http, anonymous);
    }

    /** Returns these options with other settings. */
    public ListenerOptions with(HttpSettings settings) {
        return new ListenerOptions(name, host, port, eventLoops, maxBodyBytes, settings, anonymous);
    }

    /** Returns these options with scopes that need no token even if security is on. */
    public ListenerOptions openTo(Scope... scopes) {
        return new ListenerOptions(name, host, port, eventLoops, maxBodyBytes, http, Set.of(scopes));
    }

    HttpLimits limits() {
        return http.limits();
    }
}
