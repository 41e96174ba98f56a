package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.jspecify.annotations.Nullable;

/**
 * The table in packed records outside the heap, as a store of Kafka Streams.
 *
 * <pre>
 * byPuri ──▶ names (Index) ──┐
 *                            ├──▶ one record (Slab), written once ──▶ Words
 * byHandle ─▶ handles (Index)┘
 * </pre>
 *
 * A row that changes gets a new record; both indexes are pointed to it and the old record is freed. One thread writes;
 * {@link Index} says why readers need no lock.
 */
public final class PackedTable implements Table, StateStore {
    /** The store's name. */
    public static final String NAME = "identities";

    private final long seed;
    private final Slab slab = new Slab();
    private final Index names = new Index(slab);
    private final Index handles = new Index(slab);
    private final Words words = new Words();
    private final RowCodec codec = new RowCodec(words);
    private final AtomicLongArray byStatus = new AtomicLongArray(Row.Status.values().length);
    private final RowBatch own;
    private final NewRecord record = new NewRecord();
    private final Counts tally = new Counts();

    /** Of the batch that is written, where its records are. */
    private final long[] addresses = new long[RowBatch.MOST];

    /** Of the batch that is written, where the searches for its rows begin. */
    private final long[] firstSlots = new long[2 * RowBatch.MOST];

    /** Offsets to be read until the table is filled, and those that were read. */
    private long expected;

    private long passed;

    /** Written so that the JIT compiler does not remove reads that only load the cache. */
    private long touched;

    private final Map<Integer, Long> reached = new ConcurrentHashMap<>();

    /**
     * The committed offsets for Kafka Streams, by partition; none for partitions that are read from their beginning.
     */
    private final Map<Integer, Long> opened;

    private volatile @Nullable Changes listener;
    private volatile boolean open;

    /** Makes an empty table. */
    public PackedTable() {
        this(ThreadLocalRandom.current().nextLong(), Map.of());
    }

    private PackedTable(long seed, Map<Integer, Long> opened) {
        this.seed = seed;
        this.own = newBatch();
        this.opened = Map.copyOf(opened);
        reached.putAll(opened);
    }

    /**
     * Makes a table of a snapshot, which Kafka Streams then feeds from where the snapshot ends.
     *
     * @throws SnapshotRefusedException when the snapshot is damaged or does not fit the topic
     * @throws IOException when it cannot be read
     */
    public static PackedTable open(Path snapshot, SnapshotRequirements terms)
            throws IOException, SnapshotRefusedException {
        SnapshotReader.Head head = SnapshotReader.head(snapshot, terms);
        PackedTable table = new PackedTable(head.seed(), head.offsets());
        try (SnapshotReader reader =
                new SnapshotReader(snapshot, head.seed(), table.slab, table.names, table.handles, table.words)) {
            reader.fill(table.tally);
        } catch (IOException | SnapshotRefusedException | RuntimeException | Error e) {
            table.release();
            throw e;
        }
        return table;
    }

    /**
     * Writes a snapshot in the place of the one before, while the table is written and read; by one
     * thread at a time. Until it returns, the one before stays whole.
     *
     * @return the offsets from which the topic has to be read on
     * @throws IOException when it cannot be written
     */
    public Map<Integer, Long> writeSnapshot(Path file, SnapshotOrigin origin, Instant now) throws IOException {
        // Before anything is dumped: what is changed from here on is read from the topic again.
        Map<Integer, Long> offsets = Map.copyOf(reached);
        new SnapshotWriter(names, words, seed).write(file, origin, offsets, now);
        return offsets;
    }

    /** Counts rows by the words that they refer to, so that stats can tell and a word without any is forgotten. */
    private final class Counts implements RowCodec.RowCounter {
        @Override
        public void count(int collection, int owner, int shard, int status, int more) {
            words.collections.count(collection, more);
            words.owners.count(owner, more);
            words.shards.count(shard, more);
            byStatus.setRelease(status, byStatus.getPlain(status) + more);
        }

        @Override
        public void countSurvivor(int collection, int more) {
            words.collections.countOther(collection, more);
        }
    }

    /**
     * The record to which the indexes are being pointed; read only when a search meets another one of the same hash.
     */
    private final class NewRecord {
        private final Index.Match byName = other -> RowCodec.sameName(bytes(), other);
        private final Index.Match byHandle = other -> {
            HandleKey handle = HandleKey.of(bytes(), words, seed);
            return handle != null && handle.in(other);
        };
        private long address;
        private byte @Nullable [] bytes;

        void at(long address) {
            this.address = address;
            bytes = null;
        }

        byte[] bytes() {
            byte[] read = bytes;
            if (read == null) {
                read = Objects.requireNonNull(slab.read(address));
                bytes = read;
            }
            return read;
        }
    }

    @Override
    public @Nullable Identity byPuri(Puri puri) {
        NameKey key = new NameKey(puri, words, seed);
        RecordParts parts = new RecordParts(words);
        byte[] record = names.find(key.hash(), key, parts);
        return record == null ? null : codec.decode(record, parts, puri, null);
    }

    @Override
    public @Nullable Identity byHandle(Handle handle) {
        HandleKey key = HandleKey.of(handle, words, seed);
        RecordParts parts = new RecordParts(words);
        byte[] record = handles.find(key.hash(), key, parts);
        return record == null ? null : codec.decode(record, parts, null, handle);
    }

    @Override
    public RecordView newView() {
        return new RecordView(slab, names, handles, words, seed);
    }

    @Override
    public long rows() {
        return names.entries();
    }

    @Override
    public long reached(int partition) {
        return reached.getOrDefault(partition, 0L);
    }

    /** Notes that everything of a partition before this offset was put. */
    public void reach(int partition, long offset) {
        Long before = reached.put(partition, offset);
        if (before != null) {
            passed += Math.max(0, offset - before);
        }
    }

    /**
     * Foretells how many offsets there are to be passed until the table is filled, so that it grows at once to what it
     * will need if the rest of the topic is like what was read. Where each partition begins has to be said by {@link
     * #reach} before anything of it is put. By the thread that writes, or by the one that hands it the first row,
     * before that.
     *
     * @param offsets 0 when nothing is to be foretold any more
     */
    public void expect(long offsets) {
        expected = offsets;
    }

    /** Puts a row in the place of the one before it, whose handle is dropped unless it is the same. */
    public void put(Puri puri, Row row) {
        own.put(puri, row);
        writeOwn();
    }

    /** Forgets a name, and the handle with it. */
    public void remove(Puri puri) {
        own.remove(puri);
        writeOwn();
    }

    private void writeOwn() {
        try {
            write(own);
        } finally {
            own.clear();
            words.forgetUnused();
        }
    }

    /**
     * Forgets owners, shards and collections that no row has any more; the next batch does too. By the thread that
     * fills batches.
     */
    public void forgetUnusedWords() {
        words.forgetUnused();
    }

    /** For tests. */
    Words words() {
        return words;
    }

    /** A batch that another thread may fill for this table. From then on, only batches may change the table. */
    public RowBatch newBatch() {
        return new RowBatch(words, codec, seed);
    }

    /**
     * Puts and removes the rows of a batch, in their order. It first loads the slots of all rows into the cache, since
     * waiting for that memory takes most of the time of a put.
     */
    public void write(RowBatch batch) {
        double toCome = passed > 0 && passed < expected ? (double) expected / passed : 0;
        names.foretell(toCome);
        handles.foretell(toCome);
        store(batch);
        touchSlots(batch);
        for (int i = 0; i < batch.count; i++) {
            Puri removed = batch.removed[i];
            if (removed == null) {
                link(batch.names[i], batch.hasHandle[i], batch.handles[i], addresses[i]);
            } else {
                unlink(removed);
            }
        }
    }

    /**
     * Copies all records at once if few freed records can be reused: many short copies cost more than one long copy.
     */
    private void store(RowBatch batch) {
        int bytes = batch.begins[batch.count];
        long room = bytes == 0 || slab.freeRecords() >= batch.count ? 0 : slab.allocateRoom(bytes / Slab.UNIT);
        if (room != 0) {
            slab.copy(batch.records, 0, room, bytes);
        }
        for (int i = 0; i < batch.count; i++) {
            if (batch.removed[i] == null) {
                int begin = batch.begins[i];
                int length = batch.begins[i + 1] - begin;
                if (room != 0) {
                    addresses[i] = room + begin / Slab.UNIT;
                } else {
                    addresses[i] = slab.allocateRecord(length / Slab.UNIT);
                    slab.copy(batch.records, begin, addresses[i], length);
                }
                tally.count(batch.collections[i], batch.owners[i], batch.shards[i], batch.statuses[i], 1);
                if (batch.survivorCollections[i] >= 0) {
                    tally.countSurvivor(batch.survivorCollections[i], 1);
                }
            }
        }
    }

    /**
     * Loads the first slots of all rows into the cache: independent reads, of which the processor runs many at a time.
     */
    private void touchSlots(RowBatch batch) {
        int count = 0;
        for (int i = 0; i < batch.count; i++) {
            if (batch.removed[i] == null) {
                firstSlots[count++] = names.firstSlot(batch.names[i]);
                firstSlots[count++] = batch.hasHandle[i] ? handles.firstSlot(batch.handles[i]) : 0;
            }
        }
        long seen = 0;
        for (int i = 0; i < count; i++) {
            if (firstSlots[i] != 0) {
                seen += slab.getLong(firstSlots[i]);
            }
        }
        touched = seen;
    }

    private void link(long name, boolean hasHandle, long handle, long fresh) {
        record.at(fresh);
        long old = names.seek(name, record.byName);
        if (old == 0) {
            if (hasHandle) {
                turnHandle(handle, fresh, 0);
            }
            names.insertSought(name, fresh);
        } else {
            byte[] before = names.found();
            HandleKey handleBefore = HandleKey.of(before, words, seed);
            boolean sameHandle = hasHandle && handleBefore != null && handleBefore.in(record.bytes());
            if (hasHandle) {
                turnHandle(handle, fresh, sameHandle ? old : 0);
            }
            names.replace(name, fresh);
            drop(old, before, sameHandle ? null : handleBefore);
        }
        Changes changes = listener;
        if (changes != null) {
            Identity identity = codec.decode(record.bytes());
            changes.changed(identity.puri(), identity.row());
        }
    }

    /**
     * @param old the record that the handle led to if it still does; else 0
     */
    private void turnHandle(long hash, long fresh, long old) {
        boolean isThere = old != 0 && handles.seekAddress(hash, old) != 0;
        if (isThere || handles.seek(hash, record.byHandle) != 0) {
            handles.replace(hash, fresh);
        } else {
            handles.insertSought(hash, fresh);
        }
    }

    private void unlink(Puri puri) {
        NameKey name = new NameKey(puri, words, seed);
        long old = names.seek(name.hash(), name);
        if (old != 0) {
            byte[] before = names.found();
            names.remove(name.hash());
            drop(old, before, HandleKey.of(before, words, seed));
        }
        Changes changes = listener;
        if (changes != null) {
            changes.changed(puri, null);
        }
    }

    /**
     * Frees a record that its name leads to no more.
     *
     * @param handle what may still lead to it
     */
    private void drop(long address, byte[] record, @Nullable HandleKey handle) {
        // The handle may have gone to another name in the meantime: then it leads to that one's record.
        if (handle != null && handles.seekAddress(handle.hash(), address) != 0) {
            handles.remove(handle.hash());
        }
        RowCodec.count(record, tally, -1);
        slab.freeRecord(address, record.length / Slab.UNIT);
    }

    @Override
    public void onChange(@Nullable Changes listener) {
        this.listener = listener;
    }

    @Override
    public void scan(Consumer<Identity> seen) {
        try (Words.Hold held = words.hold()) {
            for (int table = 0; table < Index.TABLES; table++) {
                records(table).forEach(record -> seen.accept(codec.decode(record)));
            }
        }
    }

    @Override
    public int parts() {
        return Index.TABLES;
    }

    @Override
    public void show(int part, RecordView view, Consumer<RecordView> seen) {
        // A number is to have one word until it was shown, and no longer: others take their time between two parts.
        try (Words.Hold held = words.hold()) {
            for (byte[] record : records(part)) {
                view.show(record);
                seen.accept(view);
            }
        }
    }

    private List<byte[]> records(int table) {
        Part part = new Part();
        names.read(table, part);
        return part.records;
    }

    /** The records of one small table: bounded, so that a scan of any number of rows is. */
    private static final class Part implements Index.Taker {
        private final List<byte[]> records = new ArrayList<>();

        @Override
        public void begin() {
            records.clear();
        }

        @Override
        public void take(long tag, byte[] record) {
            records.add(record);
        }
    }

    @Override
    public TableStats stats() {
        Map<Row.Status, Long> statuses = new EnumMap<>(Row.Status.class);
        for (Row.Status status : Row.Status.values()) {
            statuses.put(status, byStatus.getAcquire(status.ordinal()));
        }
        return new TableStats(
                names.entries(),
                handles.entries(),
                words.collections.counts(),
                words.owners.counts(),
                words.shards.counts(),
                statuses,
                slab.bytes(),
                slab.bytesInUse(),
                names.load());
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
        // Kept by snapshots, which Kafka Streams does not time: it commits a global store too seldom.
    }

    @Override
    public boolean persistent() {
        return true;
    }

    /** What the snapshot that the table was made of says; null without one. */
    @Override
    public @Nullable Long committedOffset(TopicPartition partition) {
        return opened.get(partition.partition());
    }

    @Override
    @SuppressWarnings("deprecation") // to be overridden until Kafka assumes true
    public boolean managesOffsets() {
        return true;
    }

    /**
     * Gives the memory back at once instead of when nothing refers to the table any more; for a table that
     * nobody reads. What is asked of its rows from then on fails or is missing.
     */
    public void release() {
        slab.close();
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
