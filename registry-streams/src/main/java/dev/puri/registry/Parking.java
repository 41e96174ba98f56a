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
 * <p>The events stand in the store, one key each: the pURI, a zero byte, and a sequence number that
 * makes the key order the queue's order. What is kept on the heap is an index over the queues, some
 * hundred bytes for each, that tells without a look into the store whether a pURI is waiting, and whose
 * turn it is. After a restart the index is built from the store again; what each queue waits for is not
 * stored but found out by looking at its head.
 */
final class Parking {
    private static final class Queue {
        private long head;
        private long end;
        private Wait wait;
        private @Nullable Dossier atHand;

        private Queue(long head, long end, Wait wait) {
            this.head = head;
            this.end = end;
            this.wait = wait;
        }
    }

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
        int split = parked.key.length - Long.BYTES - 1;
        Puri puri = Puri.parse(new String(parked.key, 0, split, StandardCharsets.US_ASCII));
        long sequence = ByteBuffer.wrap(parked.key, split + 1, Long.BYTES).getLong();
        Queue queue = queues.get(puri);
        if (queue == null) {
            queues.put(puri, new Queue(sequence, sequence + 1, Wait.ITS_TURN));
            turns.put(puri, 0L);
        } else {
            queue.end = sequence + 1;
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
        Queue queue = new Queue(0, 1, wait);
        if (arrival.head().length <= AT_HAND_BYTES && queues.size() < MOST_AT_HAND) {
            queue.atHand = dossier;
        }
        queues.put(puri, queue);
        store.put(key(puri, 0), arrival.toBytes(dossier.since()));
        enlist(puri, wait, dossier.since());
    }

    /** Parks an event behind those that wait already. */
    void queue(Puri puri, Arrival arrival, long now) {
        Queue queue = present(puri);
        store.put(key(puri, queue.end), arrival.toBytes(now));
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
        byte[] value = store.get(key(puri, queue.head));
        if (value == null) {
            throw new IllegalStateException("the queue of " + puri + " lost its event " + queue.head);
        }
        return new Dossier(puri, Arrival.fromBytes(puri.toBytes(), value), Arrival.parkedAt(value));
    }

    void removeHead(Puri puri) {
        Queue queue = present(puri);
        // The same tombstone as delete(), without the look at what was there.
        store.put(key(puri, queue.head), null);
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
        store.put(key(marker, 0), Texts.EMPTY);
        store.delete(key(marker, 0));
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

    private static byte[] key(Puri puri, long sequence) {
        byte[] text = puri.toBytes();
        return ByteBuffer.allocate(text.length + 1 + Long.BYTES)
                .put(text)
                .put((byte) 0)
                .putLong(sequence)
                .array();
    }
}
