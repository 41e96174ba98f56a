package dev.puri.http;

import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines of the connections and requests of one event loop. Confined to the event loop.
 *
 * <pre>
 * connection opened ─▶ first request's headers complete   header timeout, then 408
 * response ─▶ next request's headers complete             idle timeout, then close
 * start of a body ─▶ its end                              body timeout, then 408
 * headers complete ─▶ response                            answer timeout, then 503
 * response ─▶ read by the client                          idle timeout + size / minimum rate, then close
 * </pre>
 *
 * Deadlines are absolute: if each byte restarted a timeout, a client could hold its connection for ever by sending a
 * byte now and then. {@link #check} compares all deadlines with the clock, so that a request needs no timer.
 */
final class ConnectionDeadlines {
    /** The minimum rate at which a client must read a response. */
    private static final int MIN_BYTES_PER_SECOND = 64 << 10;

    /** The maximum time of an orderly close; after it the connection is aborted. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final byte[] headersTooSlowResponse;
    private final HttpLimits limits;
    private final ListenerState state;
    private final long idleNanos;
    private final Map<HttpConnection, Connection> connections = new IdentityHashMap<>();
    private final Set<RequestBody> bodies = new LinkedHashSet<>();

    /**
     * The first and last of the exchanges without a response. They are linked by fields, to save an object per request.
     */
    private @Nullable Exchange oldestUnanswered;

    private @Nullable Exchange newestUnanswered;

    ConnectionDeadlines(HttpLimits limits, ListenerState state) {
        this.limits = limits;
        this.state = state;
        this.idleNanos = limits.idleTimeout().toNanos();
        this.headersTooSlowResponse = Problem.of(
                        ProblemType.HEADERS_TOO_SLOW,
                        "The connection did not send complete request headers within "
                                + limits.headerTimeout().toMillis() + " ms.")
                .asHttp1();
    }

    /** A connection. Its deadline applies while it has no active request. */
    final class Connection {
        private final HttpConnection connection;
        private long deadlineNanos;
        private int activeRequests;
        private boolean isNew = true;
        private boolean isClosing;

        Connection(HttpConnection connection) {
            this.connection = connection;
            this.deadlineNanos = System.nanoTime() + limits.headerTimeout().toNanos();
        }

        /** Called when the headers of a request are complete. */
        void requestStarted() {
            isNew = false;
            activeRequests++;
        }

        /**
         * Called when the response of a request is complete. The client may not have read it, and may never read it.
         *
         * @param unreadBytes the bytes that the client may not have read yet; 0 for a response without a body, or
         *     for a stream, which has its own time limit
         */
        void requestEnded(long unreadBytes) {
            activeRequests--;
            deadlineNanos = System.nanoTime() + idleNanos + unreadBytes * 1_000_000_000L / MIN_BYTES_PER_SECOND;
        }

        private void checkDeadline(long nowNanos) {
            if (activeRequests > 0 || nowNanos - deadlineNanos < 0) {
                return;
            }
            if (isClosing) {
                // The close waits until the client has read the response, and that took too long.
                state.countExceeded(Limit.ANSWER_UNREAD);
                RawConnection.close(connection);
                return;
            }
            isClosing = true;
            deadlineNanos = nowNanos + CLOSE_TIMEOUT.toNanos();
            if (isNew) {
                state.countExceeded(Limit.HEADERS_TOO_SLOW);
                RawConnection.respondAndClose(connection, headersTooSlowResponse);
            } else {
                connection.close();
            }
        }
    }

    /** Returns the period at which {@link #check} must be called. */
    Duration checkPeriod() {
        long shortestMillis = Math.min(
                Math.min(
                        limits.headerTimeout().toMillis(),
                        limits.answerTimeout().toMillis()),
                Math.min(limits.bodyTimeout().toMillis(), limits.idleTimeout().toMillis()));
        return Duration.ofMillis(Math.clamp(shortestMillis / 4, 5, 1000));
    }

    /** Tracks a new connection, or closes it if there are too many. */
    void add(HttpConnection connection) {
        if (!state.tryAddConnection()) {
            RawConnection.close(connection);
            return;
        }
        connections.put(connection, new Connection(connection));
        connection.closeHandler(closed -> {
            connections.remove(connection);
            state.removeConnection();
        });
    }

    /** Returns the tracked connection; an untracked object if the connection is already closed. */
    Connection find(HttpConnection connection) {
        Connection tracked = connections.get(connection);
        return tracked == null ? new Connection(connection) : tracked;
    }

    /** Adds an exchange that has no response yet. */
    void addUnanswered(Exchange exchange) {
        exchange.previous = newestUnanswered;
        if (newestUnanswered == null) {
            oldestUnanswered = exchange;
        } else {
            newestUnanswered.next = exchange;
        }
        newestUnanswered = exchange;
    }

    /** Removes an exchange that has a response or whose client disconnected. Does nothing if it was removed before. */
    void removeUnanswered(Exchange exchange) {
        Exchange previous = exchange.previous;
        Exchange next = exchange.next;
        if (previous == null && oldestUnanswered != exchange) {
            return;
        }
        if (previous == null) {
            oldestUnanswered = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            newestUnanswered = previous;
        } else {
            next.previous = previous;
        }
        exchange.previous = null;
        exchange.next = null;
    }

    void bodyStarted(RequestBody body) {
        bodies.add(body);
    }

    void bodyEnded(RequestBody body) {
        bodies.remove(body);
    }

    /** Enforces all deadlines. */
    void check() {
        long nowNanos = System.nanoTime();
        for (Connection tracked : new ArrayList<>(connections.values())) {
            tracked.checkDeadline(nowNanos);
        }
        // Bodies are in the order of their start, and all have the same timeout.
        for (RequestBody body : new ArrayList<>(bodies)) {
            if (nowNanos - body.startedAtNanos() < limits.bodyTimeout().toNanos()) {
                break;
            }
            bodies.remove(body);
            body.respondTooSlow();
        }
        long answerNanos = limits.answerTimeout().toNanos();
        for (Exchange exchange = oldestUnanswered;
                exchange != null && nowNanos - exchange.startedAtNanos() >= answerNanos;
                exchange = oldestUnanswered) {
            removeUnanswered(exchange);
            exchange.respondAnswerTooSlow();
        }
    }
}
