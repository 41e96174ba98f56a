package dev.puri.resolver.live;

import dev.puri.http.ServerSentEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber: its stream, and its position among the changes. Only one thread at a time, its owner, uses it, and
 * threads hand it over to each other. Any thread may call {@link #cancel}.
 */
public final class Subscription {
    /** After which delay the client connects again, perhaps to another instance. */
    private static final Duration RECONNECT_DELAY = Duration.ofSeconds(1);

    private final Subscribers subscribers;
    private final CollectionFilter filter;
    private final int maxPendingBytes;
    private final AtomicBoolean isEnded = new AtomicBoolean();
    private volatile @Nullable Sink sink;

    /** The hash of the id of the topic that the offsets belong to. */
    private int topicHash;

    /** By partition, the offset before which the subscriber has every change. */
    private long[] nextOffsets;

    /** The last time at which the subscriber had every change of the topic, in seconds since 1970. */
    private long completeAtSeconds;

    private ChangeRing ring;

    /** The number of the next change in the ring. */
    private long nextNumber;

    /** Why the subscriber may have wrong rows, to be sent before any change; null if there is no reason. */
    private @Nullable String resetReason;

    /** The last id that was sent. */
    private @Nullable ChangeId lastSentId;

    /** The result of {@link #attach}. */
    enum Attachment {
        /** The subscriber continues with the ring, which has all missing changes. */
        ATTACHED,
        /** Some missing changes are older than the ring. */
        NEEDS_REPLAY,
        /** The subscriber's id is of a topic that was replaced. */
        OTHER_TOPIC,
        /** Some missing changes, also erasures, may be gone from the topic. */
        TOO_OLD
    }

    /** The result of {@link #send}. */
    enum SendResult {
        /** The subscriber has all changes. */
        CAUGHT_UP,
        /** There are more changes. */
        MORE,
        /** There are more changes, and the stream is full. */
        STREAM_FULL,
        /** The subscriber is too slow: the ring no longer has the next change. */
        OVERRUN,
        /** The subscription has ended. */
        ENDED
    }

    /**
     * @param maxPendingBytes a stream with this number of unread bytes receives no further changes
     * @param lastId the last id that the subscriber received; null to begin at the end of the ring
     */
    Subscription(
            Subscribers subscribers,
            CollectionFilter filter,
            int maxPendingBytes,
            ChangeRing ring,
            @Nullable ChangeId lastId) {
        this.subscribers = subscribers;
        this.filter = filter;
        this.maxPendingBytes = maxPendingBytes;
        startAtEnd(ring);
        if (lastId != null) {
            this.topicHash = lastId.topicHash();
            this.completeAtSeconds = lastId.seconds();
            this.nextOffsets = lastId.nextOffsets();
        }
    }

    /** Sets the stream; called once, before any event. */
    void open(Sink sink) {
        this.sink = sink;
    }

    private Sink sink() {
        return Objects.requireNonNull(sink, "the stream is not open");
    }

    ChangeRing ring() {
        return ring;
    }

    long[] nextOffsets() {
        return nextOffsets;
    }

    /** Whether the subscription has ended, for whatever reason. */
    boolean isEnded() {
        return isEnded.get();
    }

    /** Ends the subscription because the client has disconnected. Any thread may call it, also repeatedly. */
    public void cancel() {
        if (isEnded.compareAndSet(false, true)) {
            subscribers.onStreamEnded();
        }
    }

    /**
     * Sends a last event and ends the stream, unless the subscription has ended already. The client may then connect
     * again.
     *
     * @param count counts the end of the stream; called only by the call that ends it, even if the event cannot be sent
     */
    void end(String type, String reason, Runnable count) {
        if (!isEnded.compareAndSet(false, true)) {
            return;
        }
        subscribers.onStreamEnded();
        try {
            count.run();
        } finally {
            sink().end(ServerSentEvent.of(null, type, ChangeJson.reason(reason)).withRetry(RECONNECT_DELAY));
        }
    }

    /**
     * Attaches the subscriber to a ring if the ring has all changes that the subscriber misses.
     *
     * @param maxIdAge age at which tombstones after the subscriber's id may be gone from the topic
     */
    Attachment attach(ChangeRing newRing, Instant now, Duration maxIdAge) {
        long oldestNumber = newRing.oldestNumber();
        if (topicHash != newRing.topicHash() || nextOffsets.length != newRing.partitionCount()) {
            return Attachment.OTHER_TOPIC;
        }
        if (newRing.covers(nextOffsets)) {
            ring = newRing;
            nextNumber = oldestNumber;
            return Attachment.ATTACHED;
        }
        return completeAtSeconds < now.minus(maxIdAge).getEpochSecond() ? Attachment.TOO_OLD : Attachment.NEEDS_REPLAY;
    }

    /** Continues at the end of this ring, after an event {@code reset}. */
    void reset(ChangeRing newRing, String reason) {
        startAtEnd(newRing);
        resetReason = reason;
    }

    /**
     * Reads the number before the offsets, and starts at the last change, because the ring may not have published the
     * offset of that change yet. So no change is missed. A change that the offsets include is recognised by its offset.
     */
    private void startAtEnd(ChangeRing newRing) {
        ring = newRing;
        topicHash = newRing.topicHash();
        completeAtSeconds = newRing.completeAtSeconds();
        nextNumber = Math.max(0, newRing.nextNumber() - 1);
        nextOffsets = newRing.nextOffsets();
    }

    /** The number of the next change. */
    long nextNumber() {
        return nextNumber;
    }

    /** Sends changes of the ring, at most this number. */
    SendResult send(int maxChanges) {
        if (!sendFirstEvent()) {
            return SendResult.ENDED;
        }
        for (int i = 0; i < maxChanges; i++) {
            if (isEnded()) {
                return SendResult.ENDED;
            }
            // Read in this order, so that the offsets include every change up to that time.
            long ringCompleteAtSeconds = ring.completeAtSeconds();
            long[] ringNextOffsets = ring.nextOffsets();
            if (nextNumber == ring.nextNumber()) {
                advanceTo(ringNextOffsets, ringCompleteAtSeconds);
                return SendResult.CAUGHT_UP;
            }
            Change change = ring.get(nextNumber);
            if (change == null) {
                long oldestNumber = ring.oldestNumber();
                if (!ring.covers(nextOffsets)) {
                    return SendResult.OVERRUN;
                }
                nextNumber = oldestNumber;
                continue;
            }
            boolean isNew = change.offset() >= nextOffsets[change.partition()];
            Change sendable = change.isWithheld() ? null : change;
            if (isNew && sendable != null && filter.accepts(sendable) && isFull()) {
                return SendResult.STREAM_FULL;
            }
            nextNumber++;
            if (isNew && !advancePast(change.partition(), change.offset() + 1, sendable)) {
                return SendResult.ENDED;
            }
        }
        return SendResult.MORE;
    }

    /** Sends the reset, if there is one, or the first id; returns false if the subscription has ended. */
    private boolean sendFirstEvent() {
        String reason = resetReason;
        if (reason != null) {
            resetReason = null;
            lastSentId = ChangeId.of(topicHash, completeAtSeconds, nextOffsets);
            return offer(ServerSentEvent.of(lastSentId.toString(), "reset", ChangeJson.reason(reason)));
        }
        // A client that loses its connection before the first change needs an id to continue from.
        return lastSentId != null || sendId();
    }

    /** Whether the stream is full. */
    boolean isFull() {
        return sink().pendingBytes() >= maxPendingBytes;
    }

    /**
     * Advances past a record of a partition, and sends the record's change if the filter accepts it.
     *
     * @param nextOffset the offset after the record
     * @param change null if the record changes nothing
     * @return false if the subscription has ended
     */
    boolean advancePast(int partition, long nextOffset, @Nullable Change change) {
        nextOffsets[partition] = Math.max(nextOffsets[partition], nextOffset);
        if (change == null || !filter.accepts(change)) {
            return !isEnded();
        }
        subscribers.countSent();
        lastSentId = change.id(topicHash, completeAtSeconds, nextOffsets);
        return offer(change.event());
    }

    /** Notes that every change before these offsets is sent, and that the topic had no others at this time. */
    void advanceTo(long[] offsets, long atSeconds) {
        for (int i = 0; i < nextOffsets.length; i++) {
            nextOffsets[i] = Math.max(nextOffsets[i], offsets[i]);
        }
        completeAtSeconds = Math.max(completeAtSeconds, atSeconds);
    }

    /** Sends the current id if it is new; returns false if the subscription has ended. */
    boolean sendId() {
        ChangeId lastId = lastSentId;
        if ((lastId != null && lastId.matches(topicHash, completeAtSeconds, nextOffsets)) || isFull()) {
            return !isEnded();
        }
        lastSentId = ChangeId.of(topicHash, completeAtSeconds, nextOffsets);
        return offer(ServerSentEvent.encoded(("id: " + lastSentId + "\n\n").getBytes(StandardCharsets.US_ASCII)));
    }

    private boolean offer(ServerSentEvent event) {
        if (!isEnded() && sink().offer(event)) {
            return true;
        }
        cancel();
        return false;
    }
}
