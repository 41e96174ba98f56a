package dev.puri.http;

/** What answers a route. */
@FunctionalInterface
public interface Endpoint {
    /**
     * Answers the exchange, now or later. Runs on the event loop, so it must not block; what it throws
     * is answered as our bug, status 500.
     */
    void answer(Exchange exchange);
}
