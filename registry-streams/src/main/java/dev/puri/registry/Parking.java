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
 * The queues of events that cannot be decided yet, one for each pURI that has any.
 *
 * <p>The events stand in the store, one key each: a zero byte, the hash of the pURI and a sequence number. The pURI
 * itself is in the value, because RocksDB keeps the key of what is deleted, in tombstones and in its manifest, longer
 * than the name of an erased identity may stay. What is kept on the heap is an index over the queues, some
 * hundred bytes for each, that tells without a look into the store whether a pURI is waiting, and whose
 * turn it is. After a restart the index is built from the store again; what each queue waits for is not
 * stored but found out by looking at its head.
 */
final class Parking {
    private static final class Queue {
        private long head;
        private long end;
        private Wait wait;
        private final byte[] storeKey;
        private @Nullable Dossier atHand;

        /** Events before this one were parked by a build whose keys began with the pURI. */
        private long keyedByNameUntil;

        private Queue(byte[] storeKey, long head, long end, Wait wait) {
            this.storeKey = storeKey;
            this.head = head;
            this.end = end;
            this.wait = wait;
        }
    }

    /** Begins a key; no pURI begins with it. */
    private static final byte HASHED = 0;

    /** Most of a head that is kept beside the index, for it is asked for again within a commit or two. */
    private static final int AT_HAND_BYTES = 2048;

    /** Most heads kept so; 40 MB of them in all. */
    private static final int MOST_AT_HAND = 20_000;

    private final KeyValueStore<byte[], byte[]> store;
    private final Map<Puri, Queue> queues = new HashMap<>();

    // Each pURI of the index in the one that fits its wait, the longest waiting first.
    private final LinkedHashMap<Puri, Long> askedAt = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> deadlines = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> schemas = new LinkedHashMap<>();
    private final LinkedHashMap<Puri, Long> turns = new LinkedHashMap<>();

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
                ? Texts.get(ByteBuffer.wrap(parked.value))
                : new String(parked.key, 0, parked.key.length - Long.BYTES - 1, StandardCharsets.US_ASCII);
        Puri puri = Puri.parse(name);
        long sequence = ByteBuffer.wrap(parked.key).getLong(parked.key.length - Long.BYTES);
        Queue queue = queues.get(puri);
        if (queue == null) {
            queue = new Queue(StoreKey.of(puri), sequence, sequence + 1, Wait.ITS_TURN);
            queues.put(puri, queue);
            turns.put(puri, 0L);
        }
        queue.head = Math.min(queue.head, sequence);
        queue.end = Math.max(queue.end, sequence + 1);
        if (!isHashed) {
            queue.keyedByNameUntil = Math.max(queue.keyedByNameUntil, sequence + 1);
        }
    }

    boolean isWaiting(Puri puri) {
        return queues.containsKey(puri);
    }

    /** What the pURI's queue waits for; null when it has none. */
    @Nullable
    Wait waitOf(Puri puri) {
        Queue queue = queues.get(puri);
        return queue == null ? null : queue.wait;
    }

    /** Parks the first event of a pURI that has none waiting. */
    void open(Dossier dossier, Wait wait) {
        Puri puri = dossier.puri();
        Arrival arrival = dossier.arrival();
        Queue queue = new Queue(dossier.storeKey(), 0, 1, wait);
        if (arrival.head().length <= AT_HAND_BYTES && queues.size() < MOST_AT_HAND) {
            queue.atHand = dossier;
        }
        queues.put(puri, queue);
        store.put(key(queue.storeKey, 0), arrival.toBytes(dossier.key(), dossier.since()));
        enlist(puri, wait, dossier.since());
    }

    /** Parks an event behind those that wait already. */
    void queue(Puri puri, Arrival arrival, long now) {
        Queue queue = present(puri);
        store.put(key(queue.storeKey, queue.end), arrival.toBytes(puri.toBytes(), now));
        queue.end++;
    }

    /** The longest parked event of a pURI; null when none is. */
    @Nullable
    Dossier head(Puri puri) {
        Queue queue = queues.get(puri);
        if (queue == null) {
            return null;
        }
        if (queue.atHand != null) {
            return queue.atHand;
        }
        byte[] value = store.get(headKey(puri, queue));
        if (value == null) {
            throw new IllegalStateException("the queue of " + puri + " lost its event " + queue.head);
        }
        ByteBuffer bytes = ByteBuffer.wrap(value);
        if (queue.head >= queue.keyedByNameUntil) {
            Texts.get(bytes);
        }
        long since = bytes.getLong();
        return new Dossier(puri, Arrival.read(puri.toBytes(), bytes), since);
    }

    void removeHead(Puri puri) {
        Queue queue = present(puri);
        // The same tombstone as delete(), without the look at what was there.
        store.put(headKey(puri, queue), null);
        queue.atHand = null;
        queue.head++;
        if (queue.head == queue.end) {
            queues.remove(puri);
            strike(puri, queue.wait);
        }
    }

    /** The head was looked at and has to wait, for this. */
    void keepWaiting(Puri puri, Wait wait, long now) {
        Queue queue = present(puri);
        strike(puri, queue.wait);
        queue.wait = wait;
        enlist(puri, wait, now);
    }

    /** Queues whose heads are to be looked at. */
    List<Puri> turns(int most) {
        return first(turns, Long.MAX_VALUE, most);
    }

    /** Queues whose claims were sent by then and have no answer. */
    List<Puri> askedBy(long then, int most) {
        return first(askedAt, then, most);
    }

    /** Something was declared: whatever waits for a declaration gets its turn. */
    void lookAgainAtDeclarations() {
        for (Puri puri : deadlines.keySet()) {
            present(puri).wait = Wait.ITS_TURN;
            turns.put(puri, 0L);
        }
        deadlines.clear();
    }

    /** Queues that wait for a declaration until then or less. */
    List<Puri> declarationsDueBy(long then, int most) {
        return first(deadlines, then, most);
    }

    /** Queues that wait for a schema; those not looked at for longest. */
    List<Puri> waitingForSchemas(int most) {
        return first(schemas, Long.MAX_VALUE, most);
    }

    /** Writes to the store and leaves nothing there. */
    void mark(Puri marker) {
        byte[] key = key(StoreKey.of(marker), 0);
        store.put(key, Texts.EMPTY);
        store.delete(key);
    }

    private void enlist(Puri puri, Wait wait, long now) {
        list(wait).put(puri, wait instanceof Wait.ForDeclaration declaration ? declaration.deadline() : now);
    }

    private void strike(Puri puri, Wait wait) {
        list(wait).remove(puri);
    }

    private LinkedHashMap<Puri, Long> list(Wait wait) {
        return switch (wait) {
            case Wait.ForGrant ignored -> askedAt;
            case Wait.ForDeclaration ignored -> deadlines;
            case Wait.ForSchema ignored -> schemas;
            case Wait.ItsTurn ignored -> turns;
        };
    }

    private static List<Puri> first(LinkedHashMap<Puri, Long> list, long until, int most) {
        List<Puri> first = new ArrayList<>();
        for (Map.Entry<Puri, Long> entry : list.entrySet()) {
            if (first.size() == most || entry.getValue() > until) {
                break;
            }
            first.add(entry.getKey());
        }
        return first;
    }

    private Queue present(Puri puri) {
        Queue queue = queues.get(puri);
        if (queue == null) {
            throw new IllegalStateException(puri + " has no queue");
        }
        return queue;
    }

    private static byte[] headKey(Puri puri, Queue queue) {
        if (queue.head >= queue.keyedByNameUntil) {
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
