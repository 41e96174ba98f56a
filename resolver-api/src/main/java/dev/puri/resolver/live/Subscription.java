package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber. Threads hand it over to each other, and only its owner uses it; {@link #cancel} may be called by any
 * thread.
 */
public final class Subscription {
    /** How soon the client connects again, perhaps to another instance. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Subscribers subscribers;
    private final ChangeFilter filter;
    private final int pendingBytes;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable Sink sink;

    /** What the subscriber has: the topic, the next offset by partition, and a time at which that was everything. */
    private int topic;

    private long[] nextOffsets;
    private long completeAt;

    /** The number of the next change in the ring. */
    private ChangeRing ring;

    private long number;

    /** Why the subscriber's state may be wrong, which is sent before any change; null when it is not. */
    private @Nullable String reset;

    /** The last id that was sent. */
    private @Nullable ChangeId sent;

    /** The source of the changes that the subscriber lacks. */
    enum Way {
        /** The ring has all of them. */
        RING,
        /** Some are older than the ring. */
        REPLAY,
        /** The subscriber's id is of a topic that was replaced. */
        OTHER_TOPIC,
        /** Some may be gone from the topic, erasures among them. */
        TOO_OLD
    }

    /** The result of a turn. */
    enum SendResult {
        /** The subscriber has all changes. */
        ALL,
        /** There are more changes. */
        MORE,
        /** There are more changes, and the stream is full. */
        BLOCKED,
        /** The subscriber is too slow: its next change is gone from the ring. */
        OVERRUN,
        /** The subscriber has gone. */
        GONE
    }

    /**
     * @param last the last id of the subscriber; null to begin now
     */
    Subscription(
            Subscribers subscribers, ChangeFilter filter, int pendingBytes, ChangeRing ring, @Nullable ChangeId last) {
        this.subscribers = subscribers;
        this.filter = filter;
        this.pendingBytes = pendingBytes;
        beginAtEnd(ring);
        if (last != null) {
            this.topic = last.topic();
            this.completeAt = last.seconds();
            this.nextOffsets = last.next();
        }
    }

    void open(Sink opened) {
        sink = opened;
    }

    private Sink sink() {
        return Objects.requireNonNull(sink, "not opened");
    }

    ChangeRing ring() {
        return ring;
    }

    long[] nextOffsets() {
        return nextOffsets;
    }

    /** Whether the subscription has ended, for whatever reason. */
    boolean isOver() {
        return over.get();
    }

    /** The subscriber has gone. May be called by any thread, and more than once. */
    public void cancel() {
        if (over.compareAndSet(false, true)) {
            subscribers.ended();
        }
    }

    /** Ends the stream with a last event, unless it has ended. The client may soon connect again. */
    void end(String type, String reason) {
        if (over.compareAndSet(false, true)) {
            subscribers.ended();
            sink().end(ServerSentEvent.of(null, type, ChangeJson.reason(reason)).withRetry(RETRY));
        }
    }

    /** Finds the source of the missing changes, and continues with this ring if that has all of them. */
    Way seek(ChangeRing wanted, Instant now, Duration forgotten) {
        long oldest = wanted.oldest();
        if (topic != wanted.topic() || nextOffsets.length != wanted.partitions()) {
            return Way.OTHER_TOPIC;
        }
        if (wanted.covers(nextOffsets)) {
            ring = wanted;
            number = oldest;
            return Way.RING;
        }
        return completeAt < now.minus(forgotten).getEpochSecond() ? Way.TOO_OLD : Way.REPLAY;
    }

    /** Continues at the end of this ring, and sends a reset to the subscriber. */
    void reset(ChangeRing wanted, String reason) {
        beginAtEnd(wanted);
        reset = reason;
    }

    /**
     * The number before the offsets, and that of the last change, whose offset may not be among those yet: so
     * none is left out, and what it has twice is known by its offset.
     */
    private void beginAtEnd(ChangeRing wanted) {
        ring = wanted;
        topic = wanted.topic();
        completeAt = wanted.completeAt();
        number = Math.max(0, wanted.head() - 1);
        nextOffsets = wanted.next();
    }

    /** The number of the next change. */
    long number() {
        return number;
    }

    /** Sends changes of the ring, at most that many. */
    SendResult send(int atMost) {
        if (!greet()) {
            return SendResult.GONE;
        }
        for (int i = 0; i < atMost; i++) {
            if (isOver()) {
                return SendResult.GONE;
            }
            // Read in this order, so that the ring has everything up to the time of completeness.
            long complete = ring.completeAt();
            long[] next = ring.next();
            if (number == ring.head()) {
                advance(next);
                completeAt = Math.max(completeAt, complete);
                return SendResult.ALL;
            }
            Change change = ring.at(number);
            if (change == null) {
                long oldest = ring.oldest();
                if (!ring.covers(nextOffsets)) {
                    return SendResult.OVERRUN;
                }
                number = oldest;
                continue;
            }
            boolean isNews = change.offset() >= nextOffsets[change.partition()];
            Change tellable = change.isWithheld() ? null : change;
            if (isNews && tellable != null && filter.takes(tellable) && isFull()) {
                return SendResult.BLOCKED;
            }
            number++;
            if (isNews && !pass(change.partition(), change.offset() + 1, tellable)) {
                return SendResult.GONE;
            }
        }
        return SendResult.MORE;
    }

    /** Sends the events that precede all changes, if there are any. */
    private boolean greet() {
        String why = reset;
        if (why != null) {
            reset = null;
            sent = ChangeId.of(topic, completeAt, nextOffsets);
            return offer(ServerSentEvent.of(sent.toString(), "reset", ChangeJson.reason(why)));
        }
        // A client that loses its connection before the first change needs an id to continue from.
        return sent != null || sendId();
    }

    /** Whether the stream is full. */
    boolean isFull() {
        return sink().pendingBytes() >= pendingBytes;
    }

    /**
     * Passes a record of a partition, and sends its change if it is one that the filter accepts.
     *
     * @return false when the subscriber has gone
     */
    boolean pass(int partition, long next, @Nullable Change change) {
        nextOffsets[partition] = Math.max(nextOffsets[partition], next);
        if (change == null || !filter.takes(change)) {
            return !isOver();
        }
        subscribers.countSent();
        sent = change.id(topic, completeAt, nextOffsets);
        return offer(change.event());
    }

    /** Notes that everything before these offsets is sent, and that it was complete at that time. */
    void passed(long[] next, long complete) {
        advance(next);
        completeAt = Math.max(completeAt, complete);
    }

    private void advance(long[] next) {
        for (int i = 0; i < nextOffsets.length; i++) {
            nextOffsets[i] = Math.max(nextOffsets[i], next[i]);
        }
    }

    /** Sends the current id if it is new; false when the subscriber has gone. */
    boolean sendId() {
        ChangeId last = sent;
        if ((last != null && last.isOf(topic, completeAt, nextOffsets)) || isFull()) {
            return !isOver();
        }
        sent = ChangeId.of(topic, completeAt, nextOffsets);
        return offer(ServerSentEvent.encoded(("id: " + sent + "\n\n").getBytes(StandardCharsets.US_ASCII)));
    }

    private boolean offer(ServerSentEvent event) {
        if (!isOver() && sink().offer(event)) {
            return true;
        }
        cancel();
        return false;
    }
}
