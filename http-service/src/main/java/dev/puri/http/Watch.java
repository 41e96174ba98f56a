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
 * The patience of one event loop: no connection of its is waited for without end.
 *
 * <pre>
 * opened ──▶ first head       within the header time-out, or 408
 * answered ─▶ next whole head  within the idle time-out, however the bytes drip
 * reading a body ─▶ its end    within the body time-out, or 408
 * head ─▶ answer or stream     within the answer time-out, or 503
 * answer ─▶ taken              at a rate of its own, see {@link #LEAST_RATE}
 * </pre>
 *
 * A time-out that begins anew with every byte would let a client hold its connection for ever by sending
 * one now and then. Deadlines here are numbers that a look at all connections, a few times within the
 * shortest time-out, compares with the clock: a request then costs no timer.
 */
final class Watch {
    /** Bytes a second at which a client takes an answer at the least. */
    private static final int LEAST_RATE = 64 << 10;

    /** What a close may take, whatever is still to be written. */
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final byte[] tooSlow;
    private final HttpLimits limits;
    private final Guard guard;
    private final long idleNanos;
    private final Map<HttpConnection, Watched> connections = new IdentityHashMap<>();
    private final Set<Exchange> reading = new LinkedHashSet<>();

    /** The ends of the list of unanswered exchanges, oldest first; linked by themselves, so that it costs no object. */
    private @Nullable Exchange oldest;

    private @Nullable Exchange newest;

    Watch(HttpLimits limits, Guard guard) {
        this.limits = limits;
        this.guard = guard;
        this.idleNanos = limits.idleTimeout().toNanos();
        this.tooSlow = Problem.of(
                        ProblemType.HEADERS_TOO_SLOW,
                        "The connection had no whole request within "
                                + limits.headerTimeout().toMillis() + " ms.")
                .asHttp1();
    }

    /** One connection: either requests are under way, or it has a deadline. */
    final class Watched {
        private final HttpConnection connection;
        private long deadline;
        private int underWay;
        private boolean isNew = true;
        private boolean isClosing;

        Watched(HttpConnection connection) {
            this.connection = connection;
            this.deadline = System.nanoTime() + limits.headerTimeout().toNanos();
        }

        /** A request's head is there. */
        void began() {
            isNew = false;
            underWay++;
        }

        /** A request has been answered, or never will be; its answer of so many bytes may be under way still. */
        void ended(long bytes) {
            underWay--;
            deadline = System.nanoTime() + idleNanos + bytes * 1_000_000_000L / LEAST_RATE;
        }

        private void look(long now) {
            if (underWay > 0 || now - deadline < 0) {
                return;
            }
            if (isClosing) {
                // There is something that the client does not take.
                guard.count(Limit.ANSWER_UNREAD);
                RawConnection.close(connection);
                return;
            }
            isClosing = true;
            deadline = now + FAREWELL.toNanos();
            if (isNew) {
                guard.count(Limit.HEADERS_TOO_SLOW);
                RawConnection.close(connection, tooSlow);
            } else {
                connection.close();
            }
        }
    }

    /** How often {@link #look} is to be called. */
    Duration period() {
        long least = Math.min(
                Math.min(
                        limits.headerTimeout().toMillis(),
                        limits.answerTimeout().toMillis()),
                Math.min(limits.bodyTimeout().toMillis(), limits.idleTimeout().toMillis()));
        return Duration.ofMillis(Math.clamp(least / 4, 5, 1000));
    }

    /** Takes a new connection, unless there are too many. */
    void opened(HttpConnection connection) {
        if (!guard.opened()) {
            RawConnection.close(connection);
            return;
        }
        connections.put(connection, new Watched(connection));
        connection.closeHandler(closed -> {
            connections.remove(connection);
            guard.closed();
        });
    }

    /** The connection that a request came on; one that is closed already has nothing to be waited for. */
    Watched of(HttpConnection connection) {
        Watched watched = connections.get(connection);
        return watched == null ? new Watched(connection) : watched;
    }

    /** A request is there and will be answered. */
    void began(Exchange exchange) {
        exchange.before = newest;
        if (newest == null) {
            oldest = exchange;
        } else {
            newest.after = exchange;
        }
        newest = exchange;
    }

    /** The exchange has been answered, or nobody is there to be answered; may be said twice. */
    void answered(Exchange exchange) {
        Exchange before = exchange.before;
        Exchange after = exchange.after;
        if (before == null && oldest != exchange) {
            return;
        }
        if (before == null) {
            oldest = after;
        } else {
            before.after = after;
        }
        if (after == null) {
            newest = before;
        } else {
            after.before = before;
        }
        exchange.before = null;
        exchange.after = null;
    }

    void reading(Exchange exchange) {
        reading.add(exchange);
    }

    void read(Exchange exchange) {
        reading.remove(exchange);
    }

    /** Ends every wait that has lasted too long. */
    void look() {
        long now = System.nanoTime();
        for (Watched watched : new ArrayList<>(connections.values())) {
            watched.look(now);
        }
        // In the order in which they began, and each may take as long as the others.
        for (Exchange exchange : new ArrayList<>(reading)) {
            if (now - exchange.readingSince() < limits.bodyTimeout().toNanos()) {
                break;
            }
            reading.remove(exchange);
            exchange.bodyTooSlow();
        }
        long answerNanos = limits.answerTimeout().toNanos();
        for (Exchange late = oldest; late != null && now - late.startedNanos() >= answerNanos; late = oldest) {
            answered(late);
            late.answerTooSlow();
        }
    }

    void count(Limit limit) {
        guard.count(limit);
    }
}
