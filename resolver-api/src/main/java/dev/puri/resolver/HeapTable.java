package dev.puri.resolver;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.jspecify.annotations.Nullable;

/**
 * The table on the heap, as a store of Kafka Streams. Nothing of it is kept on disk: it is read from
 * the topic's beginning at every start.
 *
 * <p>The door by handle leads to a name and from there to the row, which must still bear the handle: so
 * the two maps need no lock between them, for whichever is written first, a handle that its row no
 * longer bears finds nothing.
 */
final class HeapTable implements Table, StateStore {
    static final String NAME = "identities";

    private final Map<Puri, Identity> identities = new ConcurrentHashMap<>();
    private final Map<Handle, Puri> names = new ConcurrentHashMap<>();
    private final Map<Integer, Long> reached = new ConcurrentHashMap<>();
    private volatile boolean open;

    @Override
    public @Nullable Identity byPuri(Puri puri) {
        return identities.get(puri);
    }

    @Override
    public @Nullable Identity byHandle(Handle handle) {
        Puri puri = names.get(handle);
        Identity identity = puri == null ? null : identities.get(puri);
        return identity != null && handle.equals(identity.row().handle()) ? identity : null;
    }

    @Override
    public long rows() {
        return identities.size();
    }

    @Override
    public long reached(int partition) {
        return reached.getOrDefault(partition, 0L);
    }

    /** Puts a row in the place of the one before it, whose handle is dropped unless it is the same. */
    void put(Puri puri, Row row) {
        Handle handle = row.handle();
        if (handle != null) {
            names.put(handle, puri);
        }
        forget(identities.put(puri, new Identity(puri, row)), handle);
    }

    /** Forgets a name, and the handle with it. */
    void remove(Puri puri) {
        forget(identities.remove(puri), null);
    }

    /** Notes that everything of a partition before this offset has been seen. */
    void reach(int partition, long offset) {
        reached.put(partition, offset);
    }

    private void forget(@Nullable Identity before, @Nullable Handle kept) {
        if (before == null) {
            return;
        }
        Handle handle = before.row().handle();
        if (handle != null && !handle.equals(kept)) {
            names.remove(handle, before.puri());
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void init(StateStoreContext context, StateStore root) {
        context.register(root, (key, value) -> {
            throw new IllegalStateException("a global store with a processor is restored by its processor");
        });
        open = true;
    }

    @Override
    public void commit(Map<TopicPartition, Long> offsets) {
        // Nothing is kept.
    }

    @Override
    public boolean persistent() {
        return false;
    }

    @Override
    @SuppressWarnings("deprecation") // to be overridden until Kafka assumes true
    public boolean managesOffsets() {
        return true;
    }

    /** Ends the feeding; the rows stay and go on answering. */
    @Override
    public void close() {
        open = false;
    }

    @Override
    public boolean isOpen() {
        return open;
    }
}
