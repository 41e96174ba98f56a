package dev.puri.http;

import java.util.Set;

/**
 * The address and limits of a listener.
 *
 * @param name identifies the listener in metrics and logs, e.g. {@code internal}
 * @param host the address or name to bind
 * @param port the port to bind; 0 for any free port
 * @param eventLoops the number of event loop threads, at least 1
 * @param maxBodyBytes the maximum size of a request body
 * @param http other limits, TLS and access control
 * @param anonymous the scopes that need no token even if access control is on
 */
public record ListenerOptions(
        String name, String host, int port, int eventLoops, int maxBodyBytes, HttpSettings http, Set<Scope> anonymous) {
    public ListenerOptions {
        anonymous = Set.copyOf(anonymous);
    }

    /** Returns options for an API of small requests: name {@code internal}, one event loop per core. */
    public static ListenerOptions at(String host, int port) {
        int cores = Runtime.getRuntime().availableProcessors();
        return new ListenerOptions("internal", host, port, cores, 1 << 20, HttpSettings.DEFAULT, Set.of());
    }

    /** Returns these options with another name. */
    public ListenerOptions named(String newName) {
        return new ListenerOptions(newName, host, port, eventLoops, maxBodyBytes, http, anonymous);
    }

    /** Returns these options with one event loop, for a listener that serves only health and metrics. */
    public ListenerOptions onOneThread() {
        return new ListenerOptions(name, host, port, 1, maxBodyBytes, http, anonymous);
    }

    /** Returns these options with another maximum body size. */
    public ListenerOptions withMaxBodyBytes(int bytes) {
        return new ListenerOptions(name, host, port, eventLoops, bytes, http, anonymous);
    }

    /** Returns these options with other settings. */
    public ListenerOptions with(HttpSettings settings) {
        return new ListenerOptions(name, host, port, eventLoops, maxBodyBytes, settings, anonymous);
    }

    /** Returns these options with scopes that need no token even if access control is on. */
    public ListenerOptions openTo(Scope... scopes) {
        return new ListenerOptions(name, host, port, eventLoops, maxBodyBytes, http, Set.of(scopes));
    }

    HttpLimits limits() {
        return http.limits();
    }
}
