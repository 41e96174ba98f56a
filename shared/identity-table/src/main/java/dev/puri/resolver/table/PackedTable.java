package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.jspecify.annotations.Nullable;

/**
 * The identity table as packed records outside the heap. It is also a store of Kafka Streams, which feeds it.
 *
 * <pre>
 * byPuri ──▶ puris (Index) ───┐
 *                             ├──▶ one record (Slab), written once ──▶ Dictionaries
 * byHandle ─▶ handles (Index) ┘
 * </pre>
 *
 * One thread writes ({@link TableWriter}). {@link Index} explains why readers need no lock. {@link PartDigests} has the
 * digests of the rows, which the writer updates with each change and {@link MemoryCheck} recomputes from the records.
 */
public final class PackedTable implements Table, StateStore {
    /** The name of the store. */
    public static final String NAME = "identities";

    private final TableMemory memory;
    private final PartDigests digests = new PartDigests();
    private final TableCounts counts;
    private final RowCodec codec;
    private final TableWriter writer;
    private final MemoryCheck memoryCheck;
    private final RowBatch ownBatch;

    /** By partition: the offset before which the table has all records. */
    private final Map<Integer, Long> nextOffsets = new ConcurrentHashMap<>();

    /** By partition: the offset in the snapshot, from which Kafka Streams restores. Empty without a snapshot. */
    private final Map<Integer, Long> snapshotOffsets;

    /** Whether {@link #open} created the table. */
    private boolean isFromSnapshot;

    private volatile boolean open;

    /** Creates an empty table. */
    public PackedTable() {
        this(ThreadLocalRandom.current().nextLong(), Map.of());
    }

    private PackedTable(long seed, Map<Integer, Long> snapshotOffsets) {
        memory = TableMemory.withSeed(seed);
        counts = new TableCounts(memory.dictionaries());
        codec = new RowCodec(memory.dictionaries());
        writer = new TableWriter(memory, counts, digests);
        memoryCheck = new MemoryCheck(memory, digests);
        ownBatch = newBatch();
        this.snapshotOffsets = Map.copyOf(snapshotOffsets);
        nextOffsets.putAll(snapshotOffsets);
    }

    /**
     * Creates a table from a snapshot. Kafka Streams then feeds it from the offsets of the snapshot.
     *
     * @throws SnapshotRefusedException if the snapshot is damaged or does not match the topic
     * @throws IOException if the file cannot be read
     */
    public static PackedTable open(Path snapshot, SnapshotRequirements requirements)
            throws IOException, SnapshotRefusedException {
        SnapshotReader.Head head = SnapshotReader.readHead(snapshot, requirements);
        PackedTable table = new PackedTable(head.seed(), head.offsets());
        try (SnapshotReader reader = new SnapshotReader(snapshot, head, table.memory)) {
            reader.fill(table.counts, table.digests);
        } catch (IOException | SnapshotRefusedException | RuntimeException | Error e) {
            table.release();
            throw e;
        }
        table.isFromSnapshot = true;
        return table;
    }

    /**
     * Writes a snapshot and replaces the previous snapshot with it. The table may be written and read meanwhile. Only
     * one thread at a time may call this method. If it fails, the previous snapshot is unchanged.
     *
     * @return by partition, the offset from which a table that opens the snapshot reads the topic
     * @throws IOException if the file cannot be written
     */
    public Map<Integer, Long> writeSnapshot(Path file, SnapshotOrigin origin, Instant now) throws IOException {
        // Copied before the dump, so that a table that opens the snapshot reads all later changes again.
        Map<Integer, Long> offsets = Map.copyOf(nextOffsets);
        new SnapshotWriter(memory, digests).write(file, origin, offsets, now);
        return offsets;
    }

    @Override
    public @Nullable Identity byPuri(Puri puri) {
        PuriKey key = new PuriKey(puri, memory.dictionaries(), memory.seed());
        RecordParts parts = new RecordParts(memory.dictionaries());
        byte[] record = memory.puris().find(key.hash(), key, parts);
        return record == null ? null : codec.decode(record, parts, puri, null);
    }

    @Override
    public @Nullable Identity byHandle(Handle handle) {
        HandleKey key = HandleKey.of(handle, memory.dictionaries(), memory.seed());
        RecordParts parts = new RecordParts(memory.dictionaries());
        byte[] record = memory.handles().find(key.hash(), key, parts);
        return record == null ? null : codec.decode(record, parts, null, handle);
    }

    @Override
    public RecordView newView() {
        return new RecordView(memory);
    }

    @Override
    public long rows() {
        return memory.puris().entries();
    }

    @Override
    public long nextOffset(int partition) {
        return nextOffsets.getOrDefault(partition, 0L);
    }

    /** Returns the offset from which the table reads a partition: that of its snapshot, or 0. */
    public long snapshotOffset(int partition) {
        return snapshotOffsets.getOrDefault(partition, 0L);
    }

    /** Sets the offset before which the table has all records of a partition. */
    public void setNextOffset(int partition, long offset) {
        Long oldOffset = nextOffsets.put(partition, offset);
        if (oldOffset != null) {
            writer.addOffsetsRead(Math.max(0, offset - oldOffset));
        }
    }

    /**
     * Sets the number of offsets to read until the table is filled, from which the table predicts its final size. The
     * caller must call {@link #setNextOffset} with the first offset of each partition before it puts rows of the
     * partition. Called by the thread that writes, or before that thread receives the first row.
     *
     * @param offsets the number over all partitions; 0 to end the prediction
     */
    public void setOffsetsToRead(long offsets) {
        writer.setOffsetsToRead(offsets);
    }

    /** Puts a row, which replaces the previous row of the pURI and its handle. */
    public void put(Puri puri, Row row) {
        ownBatch.put(puri, row);
        writeOwnBatch();
    }

    /** Removes the row of a pURI and its handle. */
    public void remove(Puri puri) {
        ownBatch.remove(puri);
        writeOwnBatch();
    }

    private void writeOwnBatch() {
        try {
            write(ownBatch);
        } finally {
            ownBatch.clear();
            memory.dictionaries().removeUnused();
        }
    }

    /**
     * Removes words that no row refers to any more, as each new batch does. Called by the packer ({@link Dictionary}).
     */
    public void removeUnusedWords() {
        memory.dictionaries().removeUnused();
    }

    /** Visible for tests. */
    TableMemory memory() {
        return memory;
    }

    /**
     * Creates a batch, which another thread may fill. Once it does, {@link #put} and {@link #remove} must not be
     * called.
     */
    public RowBatch newBatch() {
        return new RowBatch(memory.dictionaries(), codec, memory.seed());
    }

    /** Puts and removes the rows of a batch, in their order. Called by the thread that writes. */
    public void write(RowBatch batch) {
        writer.write(batch);
    }

    @Override
    public void onChange(@Nullable Changes listener) {
        writer.onChange(listener);
    }

    @Override
    public void scan(Consumer<Identity> consumer) {
        try (Dictionaries.Hold hold = memory.dictionaries().hold()) {
            for (int segment = 0; segment < Index.SEGMENTS; segment++) {
                memory.puris().read(segment).records().forEach(record -> consumer.accept(codec.decode(record)));
            }
        }
    }

    @Override
    public int partCount() {
        return Index.SEGMENTS;
    }

    @Override
    public void scanPart(int part, RecordView view, Consumer<RecordView> consumer) {
        // The hold lasts for one part only, because a caller may pause between two parts.
        try (Dictionaries.Hold hold = memory.dictionaries().hold()) {
            for (byte[] record : memory.puris().read(part).records()) {
                view.moveTo(record);
                consumer.accept(view);
            }
        }
    }

    /**
     * Returns the digest of the rows of a partition, as of the end of a batch. While the table is restored, it may be
     * of no exact offset. Any thread may call it.
     */
    public PartitionDigest digest(int partition) {
        return digests.ofPartition(partition);
    }

    /** Returns whether the table was created from a snapshot. */
    public boolean isFromSnapshot() {
        return isFromSnapshot;
    }

    /**
     * Recomputes the digest of the rows of one part from the stored records, and compares it with the digest that the
     * writer keeps. Also compares the entry of each record in the index of pURIs with its pURI. Any thread may call it.
     *
     * @param part the number of the part, from 0
     * @param partitions the number of partitions of the topic
     */
    public PartCheck checkRows(int part, int partitions) {
        return memoryCheck.checkRows(part, partitions);
    }

    /**
     * Compares each entry of one part of the index of handles with the handle of its record. Any thread may call it.
     *
     * @param part the number of the part, from 0
     * @param partitions the number of partitions of the topic
     */
    public PartCheck checkHandles(int part, int partitions) {
        return memoryCheck.checkHandles(part, partitions);
    }

    @Override
    public TableStats stats() {
        Dictionaries dictionaries = memory.dictionaries();
        return new TableStats(
                memory.puris().entries(),
                memory.handles().entries(),
                dictionaries.collections.counts(),
                dictionaries.owners.counts(),
                dictionaries.shards.counts(),
                counts.byStatus(),
                memory.slab().allocatedBytes(),
                memory.slab().bytesInUse(),
                memory.puris().load());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void init(StateStoreContext context, StateStore root) {
        context.register(root, (key, value) -> {
            throw new IllegalStateException("a global store is restored by its processor");
        });
        open = true;
    }

    @Override
    public void commit(Map<TopicPartition, Long> offsets) {
        // Snapshots keep the offsets, because Kafka Streams commits a global store too rarely.
    }

    @Override
    public boolean persistent() {
        return true;
    }

    /** Returns the offset in the snapshot from which this table was created; null without a snapshot. */
    @Override
    public @Nullable Long committedOffset(TopicPartition partition) {
        return snapshotOffsets.get(partition.partition());
    }

    @Override
    @SuppressWarnings("deprecation") // must be overridden until Kafka's default is true
    public boolean managesOffsets() {
        return true;
    }

    /** Frees the memory at once. Only for a table without readers: later look-ups fail or find nothing. */
    public void release() {
        memory.slab().close();
    }

    /** Called when Kafka Streams stops feeding the table. The table keeps its rows and remains readable. */
    @Override
    public void close() {
        open = false;
    }

    @Override
    public boolean isOpen() {
        return open;
    }
}
