package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * The queues of events that cannot be decided yet, one queue per pURI.
 *
 * <p>The store contains the events. The key of an event consists of a zero byte, the {@link StoreKey} of the pURI (a
 * hash), and a sequence number. The pURI itself is in the value, because RocksDB keeps deleted keys, in tombstones and
 * in its manifest, longer than the name of an erased identity may remain.
 *
 * <p>An index on the heap, some hundred bytes per queue, says whether a pURI has a queue and which queues are due. The
 * constructor builds the index from the store. The store has no wait reasons: after a restart, the next tick decides
 * the head of each queue again.
 */
final class Parking {
    private static final class Queue {
        /** Sequence number of the first event. */
        private long headSequence;

        /** Sequence number of the next event that is appended. */
        private long endSequence;

        private WaitReason reason;
        private final byte[] storeKey;
        private @Nullable PendingEvent cachedHead;

        private Queue(byte[] storeKey, long headSequence, long endSequence, WaitReason reason) {
            this.storeKey = storeKey;
            this.headSequence = headSequence;
            this.endSequence = endSequence;
            this.reason = reason;
        }
    }

    /** The first byte of each key. */
    private static final byte KEY_FORMAT = 0;

    /**
     * Maximum size of a head event that is cached, in bytes. The cache saves a read, because most head events are
     * needed again two commits later, when the grant arrives.
     */
    private static final int MAX_CACHED_BYTES = 2048;

    /** Maximum number of cached head events; they take 40 MB in total. */
    private static final int MAX_CACHED_HEADS = 20_000;

    private final KeyValueStore<byte[], byte[]> store;
    private final Map<Puri, Queue> queues = new HashMap<>();

    // Wait lists, one per wait reason, with times in ms since the epoch. Each pURI that has a queue is in the wait list
    // of its reason. The first pURI of a list is the one that was added first.
    private final LinkedHashMap<Puri, Long> claimTimes = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> declarationDeadlines = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> schemaCheckTimes = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> dueAtNextTick = new LinkedHashMap<>();

    Parking(KeyValueStore<byte[], byte[]> store) {
        this.store = store;
        try (KeyValueIterator<byte[], byte[]> parked = store.all()) {
            while (parked.hasNext()) {
                addToIndex(parked.next());
            }
        }
    }

    private void addToIndex(KeyValue<byte[], byte[]> entry) {
        Puri puri = Puri.parse(TextCodec.get(ByteBuffer.wrap(entry.value)));
        long sequence = ByteBuffer.wrap(entry.key).getLong(entry.key.length - Long.BYTES);
        Queue queue = queues.get(puri);
        if (queue == null) {
            queue = new Queue(StoreKey.of(puri), sequence, sequence + 1, WaitReason.FOR_NEXT_TICK);
            queues.put(puri, queue);
            dueAtNextTick.put(puri, 0L);
        }
        queue.headSequence = Math.min(queue.headSequence, sequence);
        queue.endSequence = Math.max(queue.endSequence, sequence + 1);
    }

    /** Whether no event is parked. */
    boolean isEmpty() {
        return queues.isEmpty();
    }

    boolean hasQueue(Puri puri) {
        return queues.containsKey(puri);
    }

    /** Returns the reason why the head of the pURI's queue waits, or null if there is no queue. */
    @Nullable
    WaitReason reasonOf(Puri puri) {
        Queue queue = queues.get(puri);
        return queue == null ? null : queue.reason;
    }

    /** Creates the queue of a pURI that has none, with its first event. */
    void parkFirst(PendingEvent pending, WaitReason reason) {
        Puri puri = pending.puri();
        RawEvent raw = pending.raw();
        Queue queue = new Queue(pending.storeKey(), 0, 1, reason);
        if (raw.valueHead().length <= MAX_CACHED_BYTES && queues.size() < MAX_CACHED_HEADS) {
            queue.cachedHead = pending;
        }
        queues.put(puri, queue);
        store.put(key(queue.storeKey, 0), raw.toBytes(pending.key(), pending.receivedAt()));
        addToWaitList(puri, reason, pending.receivedAt());
    }

    /** Appends an event to the pURI's queue. */
    void append(Puri puri, RawEvent raw, long now) {
        Queue queue = existingQueue(puri);
        store.put(key(queue.storeKey, queue.endSequence), raw.toBytes(puri.toBytes(), now));
        queue.endSequence++;
    }

    /** Returns the first event of the pURI's queue, or null if there is no queue. */
    @Nullable
    PendingEvent head(Puri puri) {
        Queue queue = queues.get(puri);
        if (queue == null) {
            return null;
        }
        if (queue.cachedHead != null) {
            return queue.cachedHead;
        }
        byte[] value = store.get(key(queue.storeKey, queue.headSequence));
        if (value == null) {
            throw new IllegalStateException(
                    "the queue of " + puri + " has no event " + queue.headSequence + " in the store");
        }
        ByteBuffer bytes = ByteBuffer.wrap(value);
        String ignoredPuri = TextCodec.get(bytes);
        long receivedAt = bytes.getLong();
        return new PendingEvent(puri, RawEvent.read(puri.toBytes(), bytes), receivedAt);
    }

    void removeHead(Puri puri) {
        Queue queue = existingQueue(puri);
        // delete() writes the same tombstone, but reads the old value first.
        store.put(key(queue.storeKey, queue.headSequence), null);
        queue.cachedHead = null;
        queue.headSequence++;
        if (queue.headSequence == queue.endSequence) {
            queues.remove(puri);
            removeFromWaitList(puri, queue.reason);
        }
    }

    /** Sets the reason why the head cannot be decided yet. */
    void setReason(Puri puri, WaitReason reason, long now) {
        Queue queue = existingQueue(puri);
        removeFromWaitList(puri, queue.reason);
        queue.reason = reason;
        addToWaitList(puri, reason, now);
    }

    /** Returns the pURIs whose queues wait for the next tick. */
    List<Puri> waitingForTick(int max) {
        return firstUntil(dueAtNextTick, Long.MAX_VALUE, max);
    }

    /** Returns the pURIs whose claims were sent until a time and have no grant, oldest claim first. */
    List<Puri> claimedUntil(long time, int max) {
        return firstUntil(claimTimes, time, max);
    }

    /** Called after a new declaration: makes all queues that wait for a declaration due at the next tick. */
    void recheckDeclarations() {
        for (Puri puri : declarationDeadlines.keySet()) {
            existingQueue(puri).reason = WaitReason.FOR_NEXT_TICK;
            dueAtNextTick.put(puri, 0L);
        }
        declarationDeadlines.clear();
    }

    /** Returns the pURIs whose deadlines for a declaration have passed at a time. */
    List<Puri> declarationDeadlinesUntil(long time, int max) {
        return firstUntil(declarationDeadlines, time, max);
    }

    /** Returns the pURIs whose queues wait for a schema, the least recently checked first. */
    List<Puri> waitingForSchemas(int max) {
        return firstUntil(schemaCheckTimes, Long.MAX_VALUE, max);
    }

    /**
     * Writes a marker record ({@link PartitionMarker}) and its tombstone to the changelog. The content of the store
     * does not change.
     */
    void writeMarker(Puri marker) {
        byte[] key = key(StoreKey.of(marker), 0);
        store.put(key, TextCodec.EMPTY);
        store.delete(key);
    }

    private void addToWaitList(Puri puri, WaitReason reason, long now) {
        waitList(reason)
                .put(puri, reason instanceof WaitReason.ForDeclaration declaration ? declaration.deadline() : now);
    }

    private void removeFromWaitList(Puri puri, WaitReason reason) {
        waitList(reason).remove(puri);
    }

    private LinkedHashMap<Puri, Long> waitList(WaitReason reason) {
        return switch (reason) {
            case WaitReason.ForGrant ignored -> claimTimes;
            case WaitReason.ForDeclaration ignored -> declarationDeadlines;
            case WaitReason.ForSchema ignored -> schemaCheckTimes;
            case WaitReason.ForNextTick ignored -> dueAtNextTick;
        };
    }

    /** Returns the first pURIs of a wait list, up to the first one with a later time; none if max is negative. */
    private static List<Puri> firstUntil(LinkedHashMap<Puri, Long> waitList, long time, int max) {
        List<Puri> puris = new ArrayList<>();
        for (Map.Entry<Puri, Long> entry : waitList.entrySet()) {
            if (puris.size() >= max || entry.getValue() > time) {
                break;
            }
            puris.add(entry.getKey());
        }
        return puris;
    }

    private Queue existingQueue(Puri puri) {
        Queue queue = queues.get(puri);
        if (queue == null) {
            throw new IllegalStateException(puri + " has no queue");
        }
        return queue;
    }

    /**
     * Returns the {@link StoreKey} of a pURI from the key of one of its events in the store; empty if it is malformed.
     */
    static byte[] storeKeyOf(byte[] key) {
        return key.length <= 1 + Long.BYTES ? new byte[0] : Arrays.copyOfRange(key, 1, key.length - Long.BYTES);
    }

    private static byte[] key(byte[] storeKey, long sequence) {
        return ByteBuffer.allocate(1 + storeKey.length + Long.BYTES)
                .put(KEY_FORMAT)
                .put(storeKey)
                .putLong(sequence)
                .array();
    }
}
