package dev.puri.http;

/** Serves the requests of a route. */
@FunctionalInterface
public interface Endpoint {
    /**
     * Responds to the exchange, now or later. Called on the event loop, so it must not block. If it throws, the
     * response has status 500.
     */
    void answer(Exchange exchange);
}
