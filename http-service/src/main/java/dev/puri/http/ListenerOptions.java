package dev.puri.http;

import java.time.Duration;

/**
 * Where a listener listens, and the bounds of what it takes.
 *
 * @param host address or name to bind
 * @param port 0 for any free one
 * @param eventLoops threads that answer, at least 1
 * @param maxUrlBytes most bytes of the request line
 * @param maxHeaderBytes most bytes of all headers
 * @param maxBodyBytes most bytes of a request's body
 * @param idleTimeout how long a connection may lie idle
 * @param bodyTimeout how long a body may take to arrive, however steadily it drips
 * @param closeGrace how long requests under way may take when the listener closes
 */
public record ListenerOptions(
        String host,
        int port,
        int eventLoops,
        int maxUrlBytes,
        int maxHeaderBytes,
        int maxBodyBytes,
        Duration idleTimeout,
        Duration bodyTimeout,
        Duration closeGrace) {
    /** Bounds that fit an API of small requests; one thread a core. */
    public static ListenerOptions at(String host, int port) {
        return new ListenerOptions(
                host,
                port,
                Runtime.getRuntime().availableProcessors(),
                8 << 10,
                16 << 10,
                1 << 20,
                Duration.ofSeconds(60),
                Duration.ofSeconds(10),
                Duration.ofSeconds(5));
    }

    /** The same with one thread, for health and metrics alone. */
    public ListenerOptions onOneThread() {
        return new ListenerOptions(
                host, port, 1, maxUrlBytes, maxHeaderBytes, maxBodyBytes, idleTimeout, bodyTimeout, closeGrace);
    }

    /** The same with another bound on bodies. */
    public ListenerOptions withMaxBodyBytes(int bytes) {
        return new ListenerOptions(
                host, port, eventLoops, maxUrlBytes, maxHeaderBytes, bytes, idleTimeout, bodyTimeout, closeGrace);
    }
}
