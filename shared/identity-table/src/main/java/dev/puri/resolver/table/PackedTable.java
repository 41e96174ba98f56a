package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Consumer;
import java.util.stream.IntStream;
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
 * A change of a row writes a new record, points both indexes to it, and frees the old record. One thread writes. {@link
 * Index} explains why readers need no lock. {@link PartDigests} has the digests of the rows, which the writer updates
 * with each change and {@link #checkPart} recomputes from the records.
 */
public final class PackedTable implements Table, StateStore {
    /** The name of the store. */
    public static final String NAME = "identities";

    /** In place of the hash of a damaged record. The hash of a row has this value with a probability of 2⁻⁶⁴. */
    private static final long DAMAGED = 0;

    private final long seed;
    private final Slab slab = new Slab();
    private final Index puris = new Index(slab);
    private final Index handles = new Index(slab);
    private final Dictionaries dictionaries = new Dictionaries();
    private final RowCodec codec = new RowCodec(dictionaries);
    private final AtomicLongArray byStatus = new AtomicLongArray(Row.Status.values().length);
    private final PartDigests digests = new PartDigests();

    /** Used by the writer. */
    private final RecordHasher hasher = new RecordHasher(dictionaries);

    private final RowBatch ownBatch;
    private final NewRecord newRecord = new NewRecord();
    private final WordCounts wordCounts = new WordCounts();

    /** The addresses of the records of the current batch. */
    private final long[] recordAddresses = new long[RowBatch.MAX_ROWS];

    /** The addresses of the slots at which the searches for the rows of the current batch begin. */
    private final long[] homeAddresses = new long[2 * RowBatch.MAX_ROWS];

    /** The number of offsets to read until the table is filled, over all partitions. */
    private long offsetsToRead;

    /** The number of offsets read so far, over all partitions. */
    private long offsetsRead;

    /** Prefetched values are assigned to this field, so that the compiler does not remove the reads. */
    private long prefetched;

    /** By partition: the offset before which the table has all records. */
    private final Map<Integer, Long> nextOffsets = new ConcurrentHashMap<>();

    /** By partition: the offset in the snapshot, from which Kafka Streams restores. Empty without a snapshot. */
    private final Map<Integer, Long> snapshotOffsets;

    /** Whether {@link #open} created the table. */
    private boolean isFromSnapshot;

    private volatile @Nullable Changes listener;
    private volatile boolean open;

    /**
     * The result of {@link #checkPart}.
     *
     * @param isComplete false if the writer changed the part meanwhile, so that the check found nothing
     * @param rows the number of rows of the part
     * @param differing the partitions whose rows in the part differ from the digest
     */
    public record PartCheck(boolean isComplete, int rows, List<Integer> differing) {
        private static PartCheck interrupted(int rows) {
            return new PartCheck(false, rows, List.of());
        }
    }

    /** Creates an empty table. */
    public PackedTable() {
        this(ThreadLocalRandom.current().nextLong(), Map.of());
    }

    private PackedTable(long seed, Map<Integer, Long> snapshotOffsets) {
        this.seed = seed;
        this.ownBatch = newBatch();
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
        try (SnapshotReader reader =
                new SnapshotReader(snapshot, head, table.slab, table.puris, table.handles, table.dictionaries)) {
            reader.fill(table.wordCounts, table.digests);
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
        new SnapshotWriter(puris, dictionaries, seed).write(file, origin, offsets, now);
        return offsets;
    }

    /** Counts the rows of each word and status, for {@link #stats} and for the removal of unused words. */
    private final class WordCounts implements RowCodec.RowCounter {
        @Override
        public void count(int collection, int owner, int shard, int status, int delta) {
            dictionaries.collections.addRows(collection, delta);
            dictionaries.owners.addRows(owner, delta);
            dictionaries.shards.addRows(shard, delta);
            byStatus.setRelease(status, byStatus.getPlain(status) + delta);
        }

        @Override
        public void countSurvivor(int collection, int delta) {
            dictionaries.collections.addSurvivors(collection, delta);
        }
    }

    /** The record that is being put. Its bytes are read only if a search finds another record with the same tag. */
    private final class NewRecord {
        private final Index.RecordMatcher byPuri = otherRecord -> RowCodec.haveSamePuri(bytes(), otherRecord);
        private final Index.RecordMatcher byHandle = otherRecord -> {
            HandleKey handle = HandleKey.of(bytes(), dictionaries, seed);
            return handle != null && handle.matches(otherRecord);
        };
        private long address;
        private byte @Nullable [] bytes;

        void set(long recordAddress) {
            this.address = recordAddress;
            bytes = null;
        }

        byte[] bytes() {
            byte[] copy = bytes;
            if (copy == null) {
                copy = Objects.requireNonNull(slab.read(address));
                bytes = copy;
            }
            return copy;
        }
    }

    @Override
    public @Nullable Identity byPuri(Puri puri) {
        PuriKey key = new PuriKey(puri, dictionaries, seed);
        RecordParts parts = new RecordParts(dictionaries);
        byte[] record = puris.find(key.hash(), key, parts);
        return record == null ? null : codec.decode(record, parts, puri, null);
    }

    @Override
    public @Nullable Identity byHandle(Handle handle) {
        HandleKey key = HandleKey.of(handle, dictionaries, seed);
        RecordParts parts = new RecordParts(dictionaries);
        byte[] record = handles.find(key.hash(), key, parts);
        return record == null ? null : codec.decode(record, parts, null, handle);
    }

    @Override
    public RecordView newView() {
        return new RecordView(slab, puris, handles, dictionaries, seed);
    }

    @Override
    public long rows() {
        return puris.entries();
    }

    @Override
    public long nextOffset(int partition) {
        return nextOffsets.getOrDefault(partition, 0L);
    }

    /** Sets the offset before which the table has all records of a partition. */
    public void setNextOffset(int partition, long offset) {
        Long oldOffset = nextOffsets.put(partition, offset);
        if (oldOffset != null) {
            offsetsRead += Math.max(0, offset - oldOffset);
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
        offsetsToRead = offsets;
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
            dictionaries.removeUnused();
        }
    }

    /**
     * Removes words that no row refers to any more, as each new batch does. Called by the packer ({@link Dictionary}).
     */
    public void removeUnusedWords() {
        dictionaries.removeUnused();
    }

    /** Visible for tests. */
    Dictionaries dictionaries() {
        return dictionaries;
    }

    /** Creates a batch, which another thread may fill. Afterwards only batches may change the table. */
    public RowBatch newBatch() {
        return new RowBatch(dictionaries, codec, seed);
    }

    /**
     * Puts and removes the rows of a batch, in their order. First prefetches the slots of all rows, because waiting for
     * that memory takes most of the time of a put.
     */
    public void write(RowBatch batch) {
        double expectedGrowth =
                offsetsRead > 0 && offsetsRead < offsetsToRead ? (double) offsetsToRead / offsetsRead : 0;
        puris.setExpectedGrowth(expectedGrowth);
        handles.setExpectedGrowth(expectedGrowth);
        store(batch);
        prefetchSlots(batch);
        digests.beginBatch();
        for (int i = 0; i < batch.count; i++) {
            Puri removed = batch.removed[i];
            if (removed == null) {
                put(batch, i);
            } else {
                remove(batch, i, removed);
            }
        }
        digests.endBatch();
    }

    /** Copies the records of a batch to the slab: in one copy, which is faster, unless enough freed records exist. */
    private void store(RowBatch batch) {
        int bytes = batch.begins[batch.count];
        long space = bytes == 0 || slab.freeRecordCount() >= batch.count ? 0 : slab.allocateSpace(bytes / Slab.UNIT);
        if (space != 0) {
            slab.copy(batch.records, 0, space, bytes);
        }
        for (int i = 0; i < batch.count; i++) {
            if (batch.removed[i] == null) {
                int begin = batch.begins[i];
                int length = batch.begins[i + 1] - begin;
                if (space != 0) {
                    recordAddresses[i] = space + begin / Slab.UNIT;
                } else {
                    recordAddresses[i] = slab.allocateRecord(length / Slab.UNIT);
                    slab.copy(batch.records, begin, recordAddresses[i], length);
                }
                wordCounts.count(batch.collections[i], batch.owners[i], batch.shards[i], batch.statuses[i], 1);
                if (batch.survivorCollections[i] >= 0) {
                    wordCounts.countSurvivor(batch.survivorCollections[i], 1);
                }
            }
        }
    }

    /** Prefetches the first slots of all rows. The processor executes these independent reads in parallel. */
    private void prefetchSlots(RowBatch batch) {
        int count = 0;
        for (int i = 0; i < batch.count; i++) {
            if (batch.removed[i] == null) {
                homeAddresses[count++] = puris.homeAddress(batch.puriHashes[i]);
                homeAddresses[count++] = batch.hasHandle[i] ? handles.homeAddress(batch.handleHashes[i]) : 0;
            }
        }
        long sum = 0;
        for (int i = 0; i < count; i++) {
            if (homeAddresses[i] != 0) {
                sum += slab.getLong(homeAddresses[i]);
            }
        }
        prefetched = sum;
    }

    private void put(RowBatch batch, int i) {
        int part = Index.segmentOf(batch.puriHashes[i]);
        digests.beginChange(part);
        byte[] oldRecord =
                putInIndexes(batch.puriHashes[i], batch.hasHandle[i], batch.handleHashes[i], recordAddresses[i]);
        digests.add(batch.partitions[i], part, batch.rowHashes[i]);
        if (oldRecord != null) {
            digests.subtract(batch.partitions[i], part, hasher.hash(oldRecord, 0, batch.textHashes[i]));
        }
        digests.endChange(part);
        Changes changes = listener;
        if (changes != null) {
            Identity identity = codec.decode(newRecord.bytes());
            changes.changed(identity.puri(), identity.row());
        }
    }

    /**
     * Points the indexes to a new record, and frees the previous record of the pURI.
     *
     * @return a copy of the previous record; null if there was none
     */
    private byte @Nullable [] putInIndexes(long puriHash, boolean hasHandle, long handleHash, long newAddress) {
        newRecord.set(newAddress);
        long oldAddress = puris.seek(puriHash, newRecord.byPuri);
        if (oldAddress == 0) {
            if (hasHandle) {
                pointHandle(handleHash, newAddress, 0);
            }
            puris.insertAfterSeek(puriHash, newAddress);
            return null;
        }
        byte[] oldRecord = puris.foundRecord();
        HandleKey oldHandle = HandleKey.of(oldRecord, dictionaries, seed);
        boolean keepsHandle = hasHandle && oldHandle != null && oldHandle.matches(newRecord.bytes());
        if (hasHandle) {
            pointHandle(handleHash, newAddress, keepsHandle ? oldAddress : 0);
        }
        puris.replace(puriHash, newAddress);
        dropRecord(oldAddress, oldRecord, keepsHandle ? null : oldHandle);
        return oldRecord;
    }

    /**
     * Points a handle to a new record.
     *
     * @param oldAddress the address of the previous record of the pURI if it has the same handle; 0 otherwise
     */
    private void pointHandle(long hash, long newAddress, long oldAddress) {
        boolean isIndexed = oldAddress != 0 && handles.seekAddress(hash, oldAddress) != 0;
        if (isIndexed || handles.seek(hash, newRecord.byHandle) != 0) {
            handles.replace(hash, newAddress);
        } else {
            handles.insertAfterSeek(hash, newAddress);
        }
    }

    /** Removes the row of a pURI from the indexes and frees its record. */
    private void remove(RowBatch batch, int i, Puri puri) {
        PuriKey key = new PuriKey(puri, dictionaries, seed);
        long oldAddress = puris.seek(key.hash(), key);
        if (oldAddress != 0) {
            byte[] oldRecord = puris.foundRecord();
            int part = Index.segmentOf(key.hash());
            digests.beginChange(part);
            puris.remove(key.hash());
            dropRecord(oldAddress, oldRecord, HandleKey.of(oldRecord, dictionaries, seed));
            digests.subtract(batch.partitions[i], part, hasher.hash(oldRecord, 0, batch.textHashes[i]));
            digests.endChange(part);
        }
        Changes changes = listener;
        if (changes != null) {
            changes.changed(puri, null);
        }
    }

    /** Frees a record that the index of pURIs does not contain any more, and removes its handle if there is one. */
    private void dropRecord(long address, byte[] record, @Nullable HandleKey handle) {
        // Another pURI may have got the handle meanwhile. Then the entry has the address of its record.
        if (handle != null && handles.seekAddress(handle.hash(), address) != 0) {
            handles.remove(handle.hash());
        }
        RowCodec.count(record, wordCounts, -1);
        slab.freeRecord(address, record.length / Slab.UNIT);
    }

    @Override
    public void onChange(@Nullable Changes listener) {
        this.listener = listener;
    }

    @Override
    public void scan(Consumer<Identity> consumer) {
        try (Dictionaries.Hold hold = dictionaries.hold()) {
            for (int segment = 0; segment < Index.SEGMENTS; segment++) {
                records(segment).forEach(record -> consumer.accept(codec.decode(record)));
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
        try (Dictionaries.Hold hold = dictionaries.hold()) {
            for (byte[] record : records(part)) {
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
     * writer keeps. Also compares the slot of each record in the index of pURIs with its pURI. Any thread may call it.
     *
     * @param part the number of the part, from 0
     * @param partitions the number of partitions of the topic
     */
    public PartCheck checkPart(int part, int partitions) {
        long sequence = digests.sequence(part);
        PartitionDigest expected = digests.ofPart(part);
        SegmentRecords entries = new SegmentRecords();
        RecordHasher recordHasher = new RecordHasher(dictionaries);
        try (Dictionaries.Hold hold = dictionaries.hold()) {
            puris.read(part, entries);
            PartitionDigest stored = PartitionDigest.EMPTY;
            for (int i = 0; i < entries.records.size(); i++) {
                stored = stored.plus(hash(entries, i, part, recordHasher));
            }
            if (!digests.isUnchanged(part, sequence)) {
                return PartCheck.interrupted(entries.records.size());
            }
            List<Integer> differing =
                    stored.equals(expected) ? List.of() : differing(entries, part, partitions, recordHasher);
            return digests.isUnchanged(part, sequence)
                    ? new PartCheck(true, entries.records.size(), differing)
                    : PartCheck.interrupted(entries.records.size());
        }
    }

    /** Returns the hash of a record, or any number if the record or its slot is damaged. */
    private long hash(SegmentRecords entries, int i, int part, RecordHasher recordHasher) {
        try {
            long hash = recordHasher.hash(entries.records.get(i), 0);
            long indexHash = recordHasher.indexHash(seed);
            boolean isInItsSlot = Index.segmentOf(indexHash) == part && Index.tagOf(indexHash) == entries.tags[i];
            return isInItsSlot ? hash : DAMAGED;
        } catch (RuntimeException e) {
            // A damaged record may have invalid lengths and codes.
            return DAMAGED;
        }
    }

    /** Returns the partitions whose stored rows in a part differ from their digest. */
    private List<Integer> differing(SegmentRecords entries, int part, int partitions, RecordHasher recordHasher) {
        int count = Math.max(partitions, digests.partitions());
        PartitionDigest[] stored = new PartitionDigest[count];
        Arrays.fill(stored, PartitionDigest.EMPTY);
        for (int i = 0; i < entries.records.size(); i++) {
            long hash = hash(entries, i, part, recordHasher);
            if (hash != DAMAGED) {
                int partition = recordHasher.partition(partitions);
                stored[partition] = stored[partition].plus(hash);
            }
        }
        return IntStream.range(0, count)
                .filter(partition -> !stored[partition].equals(digests.of(partition, part)))
                .boxed()
                .toList();
    }

    /**
     * Changes one bit of the stored row of a pURI, as a defect of the memory would. A fault injection for tests, which
     * must not write the table meanwhile.
     */
    void flipBit(Puri puri) {
        PuriKey key = new PuriKey(puri, dictionaries, seed);
        long address = puris.seek(key.hash(), key);
        byte[] record = puris.foundRecord();
        int uuidOffset = Identifier.end(record, Varint.end(record, RowCodec.collectionOffset(record)));
        record[uuidOffset + 15] ^= 1;
        slab.copy(record, 0, address, record.length);
    }

    private List<byte[]> records(int segment) {
        SegmentRecords entries = new SegmentRecords();
        puris.read(segment, entries);
        return entries.records;
    }

    /** Collects the records of one segment and their tags, so that the memory of a scan is bounded. */
    private static final class SegmentRecords implements Index.EntryConsumer {
        private final List<byte[]> records = new ArrayList<>();
        private long[] tags = new long[64];

        @Override
        public void restart() {
            records.clear();
        }

        @Override
        public void accept(long tag, byte[] record) {
            if (records.size() == tags.length) {
                tags = Arrays.copyOf(tags, 2 * tags.length);
            }
            tags[records.size()] = tag;
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
                puris.entries(),
                handles.entries(),
                dictionaries.collections.counts(),
                dictionaries.owners.counts(),
                dictionaries.shards.counts(),
                statuses,
                slab.bytes(),
                slab.bytesInUse(),
                puris.load());
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
        slab.close();
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
