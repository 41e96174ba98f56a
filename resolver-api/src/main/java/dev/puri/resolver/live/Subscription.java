package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber. Handed from thread to thread, and used by the one that has it; {@link #cancel} alone
 * may be called by any.
 */
public final class Subscription {
    /** Another instance may be asked as soon as it has room. */
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Subscribers subscribers;
    private final ChangeFilter filter;
    private final int pendingBytes;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable Sink sink;

    /** What has been told: the topic, by partition the offset before which all was, and when that was all. */
    private int topic;

    private long[] told;
    private long completeAt;

    /** Where the next change is looked for. */
    private ChangeRing ring;

    private long number;

    /** Says first that what the subscriber knows may be wrong; null when nothing is to be said. */
    private @Nullable String reset;

    /** The id that was last sent. */
    private @Nullable ChangeId sent;

    /** How a subscriber can be told what he has not been told. */
    enum Way {
        /** All of it is in the ring. */
        RING,
        /** Some is older. */
        REPLAY,
        /** He speaks of a topic that is no more. */
        OTHER_TOPIC,
        /** What he has not been told may be gone, erasures among it. */
        TOO_OLD
    }

    /** What came of telling. */
    enum Told {
        /** He has been told all. */
        ALL,
        /** There is more. */
        MORE,
        /** There is more, and he does not take it now. */
        BLOCKED,
        /** He is too slow: what he was not told is gone from the ring. */
        OVERRUN,
        /** He is gone. */
        GONE
    }

    /**
     * @param last how far the subscriber has been told before; null to begin now
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
            this.told = last.next();
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

    long[] told() {
        return told;
    }

    /** Whether it is over, for whatever reason. */
    boolean isOver() {
        return over.get();
    }

    /** The subscriber has gone. May be called by any thread, and more than once. */
    public void cancel() {
        if (over.compareAndSet(false, true)) {
            subscribers.ended();
        }
    }

    /** Ends the stream with a last event, unless it is over. Whoever reads it may soon connect anew. */
    void end(String type, String reason) {
        if (over.compareAndSet(false, true)) {
            subscribers.ended();
            sink().end(ServerSentEvent.of(null, type, ChangeJson.reason(reason)).withRetry(RETRY));
        }
    }

    /** Looks how to go on with this ring, and does if all is there. */
    Way seek(ChangeRing wanted, Instant now, Duration forgotten) {
        long oldest = wanted.oldest();
        if (topic != wanted.topic() || told.length != wanted.partitions()) {
            return Way.OTHER_TOPIC;
        }
        if (wanted.covers(told)) {
            ring = wanted;
            number = oldest;
            return Way.RING;
        }
        return completeAt < now.minus(forgotten).getEpochSecond() ? Way.TOO_OLD : Way.REPLAY;
    }

    /** Begins anew at the end of this ring, and lets the subscriber know. */
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
        told = wanted.next();
    }

    /** Of what comes next: the number of the change. */
    long number() {
        return number;
    }

    /** Tells what the ring has, at most so many changes. */
    Told tell(int atMost) {
        if (!greet()) {
            return Told.GONE;
        }
        for (int i = 0; i < atMost; i++) {
            if (isOver()) {
                return Told.GONE;
            }
            // Asked for in this order, so that all of what was complete is found.
            long complete = ring.completeAt();
            long[] next = ring.next();
            if (number == ring.head()) {
                advance(next);
                completeAt = Math.max(completeAt, complete);
                return Told.ALL;
            }
            Change change = ring.at(number);
            if (change == null) {
                long oldest = ring.oldest();
                if (!ring.covers(told)) {
                    return Told.OVERRUN;
                }
                number = oldest;
                continue;
            }
            boolean isNews = change.offset() >= told[change.partition()];
            Change tellable = change.isWithheld() ? null : change;
            if (isNews && tellable != null && filter.takes(tellable) && isFull()) {
                return Told.BLOCKED;
            }
            number++;
            if (isNews && !pass(change.partition(), change.offset() + 1, tellable)) {
                return Told.GONE;
            }
        }
        return Told.MORE;
    }

    /** What a subscriber is told before any change, if anything. */
    private boolean greet() {
        String why = reset;
        if (why != null) {
            reset = null;
            sent = ChangeId.of(topic, completeAt, told);
            return offer(ServerSentEvent.of(sent.toString(), "reset", ChangeJson.reason(why)));
        }
        // Who loses the connection before the first change must be able to say where he was.
        return sent != null || tellWhere();
    }

    /** Whether the subscriber has to take some of what was given before he is given more. */
    boolean isFull() {
        return sink().pendingBytes() >= pendingBytes;
    }

    /**
     * Goes on past a record of a partition, and tells of it if it is a change that is wanted.
     *
     * @return whether the subscriber is still there
     */
    boolean pass(int partition, long next, @Nullable Change change) {
        told[partition] = Math.max(told[partition], next);
        if (change == null || !filter.takes(change)) {
            return !isOver();
        }
        subscribers.countSent();
        sent = change.id(topic, completeAt, told);
        return offer(change.event());
    }

    /** All before these offsets has been told, and was complete at that time. */
    void passed(long[] next, long complete) {
        advance(next);
        completeAt = Math.max(completeAt, complete);
    }

    private void advance(long[] next) {
        for (int i = 0; i < told.length; i++) {
            told[i] = Math.max(told[i], next[i]);
        }
    }

    /** Tells how far he has been told, if that is news; false when he is gone. */
    boolean tellWhere() {
        ChangeId last = sent;
        if ((last != null && last.isOf(topic, completeAt, told)) || isFull()) {
            return !isOver();
        }
        sent = ChangeId.of(topic, completeAt, told);
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
