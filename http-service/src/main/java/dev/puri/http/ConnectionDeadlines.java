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
 * The deadlines of an event loop's connections and requests.
 *
 * <pre>
 * connection opened ─▶ first request's head   header time-out, then 408
 * response ─▶ next request's whole head       idle time-out
 * beginning of a body ─▶ its end              body time-out, then 408
 * head ─▶ response                            answer time-out, then 503
 * response ─▶ read by the client              idle time-out and time at {@link #MIN_BYTES_PER_SECOND}
 * </pre>
 *
 * Deadlines are absolute: a time-out that restarts with every byte would let a client hold its connection for ever by
 * sending a byte now and then. {@link #check} compares all deadlines with the clock, so that a request needs no timer.
 */
final class ConnectionDeadlines {
    /** The lowest rate at which a client must read a response. */
    private static final int MIN_BYTES_PER_SECOND = 64 << 10;

    /** How long an orderly close may take before the connection is cut. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

    private final byte[] headersTooSlow;
    private final HttpLimits limits;
    private final ListenerState state;
    private final long idleNanos;
    private final Map<HttpConnection, Connection> connections = new IdentityHashMap<>();
    private final Set<RequestBody> readingBodies = new LinkedHashSet<>();

    /** The ends of the linked list of unanswered exchanges, which contain the links to save an object per request. */
    private @Nullable Exchange oldest;

    private @Nullable Exchange newest;

    ConnectionDeadlines(HttpLimits limits, ListenerState state) {
        this.limits = limits;
        this.state = state;
        this.idleNanos = limits.idleTimeout().toNanos();
        this.headersTooSlow = Problem.of(
                        ProblemType.HEADERS_TOO_SLOW,
                        "The connection had no whole request within "
                                + limits.headerTimeout().toMillis() + " ms.")
                .asHttp1();
    }

    /** A connection; its deadline applies while it has no active request. */
    final class Connection {
        private final HttpConnection connection;
        private long deadline;
        private int activeRequests;
        private boolean isNew = true;
        private boolean isClosing;

        Connection(HttpConnection connection) {
            this.connection = connection;
            this.deadline = System.nanoTime() + limits.headerTimeout().toNanos();
        }

        /** Called when a request's head is complete. */
        void requestBegan() {
            isNew = false;
            activeRequests++;
        }

        /** Called when a request has its response, of which the client may not have read all bytes, or never will. */
        void requestEnded(long responseBytes) {
            activeRequests--;
            deadline = System.nanoTime() + idleNanos + responseBytes * 1_000_000_000L / MIN_BYTES_PER_SECOND;
        }

        private void checkDeadline(long now) {
            if (activeRequests > 0 || now - deadline < 0) {
                return;
            }
            if (isClosing) {
                // The client does not read its response.
                state.count(Limit.ANSWER_UNREAD);
                RawConnection.close(connection);
                return;
            }
            isClosing = true;
            deadline = now + CLOSE_TIMEOUT.toNanos();
            if (isNew) {
                state.count(Limit.HEADERS_TOO_SLOW);
                RawConnection.close(connection, headersTooSlow);
            } else {
                connection.close();
            }
        }
    }

    /** How often {@link #check} must be called. */
    Duration period() {
        long least = Math.min(
                Math.min(
                        limits.headerTimeout().toMillis(),
                        limits.answerTimeout().toMillis()),
                Math.min(limits.bodyTimeout().toMillis(), limits.idleTimeout().toMillis()));
        return Duration.ofMillis(Math.clamp(least / 4, 5, 1000));
    }

    /** Tracks a new connection, or closes it if there are too many. */
    void opened(HttpConnection connection) {
        if (!state.opened()) {
            RawConnection.close(connection);
            return;
        }
        connections.put(connection, new Connection(connection));
        connection.closeHandler(closed -> {
            connections.remove(connection);
            state.closed();
        });
    }

    /** Returns the tracked connection of a request; an untracked object if it is closed already. */
    Connection of(HttpConnection connection) {
        Connection tracked = connections.get(connection);
        return tracked == null ? new Connection(connection) : tracked;
    }

    /** Adds an exchange that awaits its response. */
    void add(Exchange exchange) {
        exchange.previous = newest;
        if (newest == null) {
            oldest = exchange;
        } else {
            newest.next = exchange;
        }
        newest = exchange;
    }

    /** Removes an exchange with a response or without a client; does nothing if it was removed before. */
    void remove(Exchange exchange) {
        Exchange previous = exchange.previous;
        Exchange next = exchange.next;
        if (previous == null && oldest != exchange) {
            return;
        }
        if (previous == null) {
            oldest = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            newest = previous;
        } else {
            next.previous = previous;
        }
        exchange.previous = null;
        exchange.next = null;
    }

    void bodyBegan(RequestBody body) {
        readingBodies.add(body);
    }

    void bodyEnded(RequestBody body) {
        readingBodies.remove(body);
    }

    /** Enforces all deadlines. */
    void check() {
        long now = System.nanoTime();
        for (Connection tracked : new ArrayList<>(connections.values())) {
            tracked.checkDeadline(now);
        }
        // Ordered by beginning, and all have the same time-out.
        for (RequestBody body : new ArrayList<>(readingBodies)) {
            if (now - body.beganNanos() < limits.bodyTimeout().toNanos()) {
                break;
            }
            readingBodies.remove(body);
            body.tooSlow();
        }
        long answerNanos = limits.answerTimeout().toNanos();
        for (Exchange late = oldest; late != null && now - late.startedNanos() >= answerNanos; late = oldest) {
            remove(late);
            late.answerTooSlow();
        }
    }

    void count(Limit limit) {
        state.count(limit);
    }
}
