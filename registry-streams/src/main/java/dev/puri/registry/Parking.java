package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Queues of events that cannot be decided yet, one queue per pURI.
 *
 * <p>The store contains the events. A key is a zero byte, the hash of the pURI and a sequence number. The pURI itself
 * is in the value, because RocksDB keeps deleted keys, in tombstones and in its manifest, longer than the name of an
 * erased identity may remain.
 *
 * <p>An index on the heap, some hundred bytes per queue, says whether a pURI has a queue and which queues are due.
 * After a restart it is rebuilt from the store. Wait reasons are not stored; deciding the head event again finds them.
 */
final class Parking {
    private static final class Queue {
        private long head;
        private long end;
        private WaitReason reason;
        private final byte[] storeKey;
        private @Nullable PendingEvent cachedHead;

        /** Events with a smaller sequence number have keys of an earlier release, which begin with the pURI. */
        private long unhashedUntil;

        private Queue(byte[] storeKey, long head, long end, WaitReason reason) {
            this.storeKey = storeKey;
            this.head = head;
            this.end = end;
            this.reason = reason;
        }
    }

    /** The first byte of a key with a hash; no pURI begins with it. */
    private static final byte HASHED = 0;

    /** The largest head event that the index caches; most are needed again within two commits. */
    private static final int MAX_CACHED_BYTES = 2048;

    /** The most cached head events, 40 MB in total. */
    private static final int MAX_CACHED_HEADS = 20_000;

    private final KeyValueStore<byte[], byte[]> store;
    private final Map<Puri, Queue> queues = new HashMap<>();

    // Each pURI with a queue is in the map of its wait reason, in order of arrival there.
    private final LinkedHashMap<Puri, Long> claimedAt = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> declarationDeadlines = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> forSchema = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> forNextTick = new LinkedHashMap<>();

    Parking(KeyValueStore<byte[], byte[]> store) {
        this.store = store;
        try (KeyValueIterator<byte[], byte[]> parked = store.all()) {
            while (parked.hasNext()) {
                index(parked.next());
            }
        }
    }

    private void index(KeyValue<byte[], byte[]> parked) {
        boolean isHashed = parked.key[0] == HASHED;
        String name = isHashed
                ? TextCodec.get(ByteBuffer.wrap(parked.value))
                : new String(parked.key, 0, parked.key.length - Long.BYTES - 1, StandardCharsets.US_ASCII);
        Puri puri = Puri.parse(name);
        long sequence = ByteBuffer.wrap(parked.key).getLong(parked.key.length - Long.BYTES);
        Queue queue = queues.get(puri);
        if (queue == null) {
            queue = new Queue(StoreKey.of(puri), sequence, sequence + 1, WaitReason.FOR_NEXT_TICK);
            queues.put(puri, queue);
            forNextTick.put(puri, 0L);
        }
        queue.head = Math.min(queue.head, sequence);
        queue.end = Math.max(queue.end, sequence + 1);
        if (!isHashed) {
            queue.unhashedUntil = Math.max(queue.unhashedUntil, sequence + 1);
        }
    }

    boolean hasQueue(Puri puri) {
        return queues.containsKey(puri);
    }

    /** Returns why the head of the pURI's queue waits, or null if there is no queue. */
    @Nullable
    WaitReason reasonOf(Puri puri) {
        Queue queue = queues.get(puri);
        return queue == null ? null : queue.reason;
    }

    /** Creates the queue of a pURI with its first event. */
    void parkFirst(PendingEvent pending, WaitReason reason) {
        Puri puri = pending.puri();
        RawEvent raw = pending.raw();
        Queue queue = new Queue(pending.storeKey(), 0, 1, reason);
        if (raw.head().length <= MAX_CACHED_BYTES && queues.size() < MAX_CACHED_HEADS) {
            queue.cachedHead = pending;
        }
        queues.put(puri, queue);
        store.put(key(queue.storeKey, 0), raw.toBytes(pending.key(), pending.receivedAt()));
        addToWaitList(puri, reason, pending.receivedAt());
    }

    /** Appends an event to the pURI's queue. */
    void append(Puri puri, RawEvent raw, long now) {
        Queue queue = existingQueue(puri);
        store.put(key(queue.storeKey, queue.end), raw.toBytes(puri.toBytes(), now));
        queue.end++;
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
        byte[] value = store.get(headKey(puri, queue));
        if (value == null) {
            throw new IllegalStateException("the queue of " + puri + " lost its event " + queue.head);
        }
        ByteBuffer bytes = ByteBuffer.wrap(value);
        if (queue.head >= queue.unhashedUntil) {
            TextCodec.get(bytes);
        }
        long receivedAt = bytes.getLong();
        return new PendingEvent(puri, RawEvent.read(puri.toBytes(), bytes), receivedAt);
    }

    void removeHead(Puri puri) {
        Queue queue = existingQueue(puri);
        // Writes the same tombstone as delete(), but does not read the old value first.
        store.put(headKey(puri, queue), null);
        queue.cachedHead = null;
        queue.head++;
        if (queue.head == queue.end) {
            queues.remove(puri);
            removeFromWaitList(puri, queue.reason);
        }
    }

    /** Records why the head cannot be decided yet. */
    void setReason(Puri puri, WaitReason reason, long now) {
        Queue queue = existingQueue(puri);
        removeFromWaitList(puri, queue.reason);
        queue.reason = reason;
        addToWaitList(puri, reason, now);
    }

    /** Returns queues whose heads are due at the next tick. */
    List<Puri> dueNow(int max) {
        return first(forNextTick, Long.MAX_VALUE, max);
    }

    /** Returns queues whose claims were sent before the time and have no grant. */
    List<Puri> claimedBefore(long time, int max) {
        return first(claimedAt, time, max);
    }

    /** After a new declaration, makes all queues that wait for one due at the next tick. */
    void recheckDeclarations() {
        for (Puri puri : declarationDeadlines.keySet()) {
            existingQueue(puri).reason = WaitReason.FOR_NEXT_TICK;
            forNextTick.put(puri, 0L);
        }
        declarationDeadlines.clear();
    }

    /** Returns queues whose deadline for a declaration has passed. */
    List<Puri> declarationDeadlinesBefore(long time, int max) {
        return first(declarationDeadlines, time, max);
    }

    /** Returns queues that wait for a schema, least recently checked first. */
    List<Puri> waitingForSchemas(int max) {
        return first(forSchema, Long.MAX_VALUE, max);
    }

    /** Writes to the changelog without changing the store. */
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
            case WaitReason.ForGrant ignored -> claimedAt;
            case WaitReason.ForDeclaration ignored -> declarationDeadlines;
            case WaitReason.ForSchema ignored -> forSchema;
            case WaitReason.ForNextTick ignored -> forNextTick;
        };
    }

    private static List<Puri> first(LinkedHashMap<Puri, Long> waitList, long until, int max) {
        List<Puri> first = new ArrayList<>();
        for (Map.Entry<Puri, Long> entry : waitList.entrySet()) {
            if (first.size() == max || entry.getValue() > until) {
                break;
            }
            first.add(entry.getKey());
        }
        return first;
    }

    private Queue existingQueue(Puri puri) {
        Queue queue = queues.get(puri);
        if (queue == null) {
            throw new IllegalStateException(puri + " has no queue");
        }
        return queue;
    }

    private static byte[] headKey(Puri puri, Queue queue) {
        if (queue.head >= queue.unhashedUntil) {
            return key(queue.storeKey, queue.head);
        }
        byte[] text = puri.toBytes();
        return ByteBuffer.allocate(text.length + 1 + Long.BYTES)
                .put(text)
                .put((byte) 0)
                .putLong(queue.head)
                .array();
    }

    private static byte[] key(byte[] storeKey, long sequence) {
        return ByteBuffer.allocate(1 + storeKey.length + Long.BYTES)
                .put(HASHED)
                .put(storeKey)
                .putLong(sequence)
                .array();
    }
}
