package dev.puri.resolver.table;

import dev.puri.schemas.identity.Puri;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes batches of rows to the memory of a table. A change of a row writes a new record, points both indexes to it,
 * and frees the old record. Also updates the digests and the counts, and reports each change. Used by one thread.
 */
final class TableWriter {
    private final Slab slab;
    private final Index puris;
    private final Index handles;
    private final Dictionaries dictionaries;
    private final long seed;
    private final TableCounts counts;
    private final PartDigests digests;
    private final RowCodec codec;
    private final RecordHasher hasher;
    private final NewRecord newRecord = new NewRecord();

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

    private volatile Table.@Nullable Changes listener;

    TableWriter(TableMemory memory, TableCounts counts, PartDigests digests) {
        slab = memory.slab();
        puris = memory.puris();
        handles = memory.handles();
        dictionaries = memory.dictionaries();
        seed = memory.seed();
        this.counts = counts;
        this.digests = digests;
        codec = new RowCodec(dictionaries);
        hasher = new RecordHasher(dictionaries);
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

    /** Sets the number of offsets to read until the table is filled; 0 to end the prediction of its final size. */
    void setOffsetsToRead(long offsets) {
        offsetsToRead = offsets;
    }

    /** Adds to the number of offsets read so far. */
    void addOffsetsRead(long offsets) {
        offsetsRead += offsets;
    }

    /** See {@link Table#onChange}. Any thread may call it. */
    void onChange(Table.@Nullable Changes newListener) {
        listener = newListener;
    }

    /**
     * Puts and removes the rows of a batch, in their order. First prefetches the slots of all rows, because waiting for
     * that memory takes most of the time of a put.
     */
    void write(RowBatch batch) {
        double expectedGrowth =
                offsetsRead > 0 && offsetsRead < offsetsToRead ? (double) offsetsToRead / offsetsRead : 0;
        puris.setExpectedGrowth(expectedGrowth);
        handles.setExpectedGrowth(expectedGrowth);
        store(batch);
        prefetchSlots(batch);
        digests.beginBatch();
        for (int i = 0; i < batch.count; i++) {
            Puri removed = batch.toRemove[i];
            if (removed == null) {
                put(batch, i);
            } else {
                remove(batch, i, removed);
            }
        }
        digests.endBatch();
    }

    /**
     * Copies the records of a batch to the slab. If there are enough freed records, it reuses them one by one.
     * Otherwise it makes one copy, which is faster.
     */
    private void store(RowBatch batch) {
        int bytes = batch.begins[batch.count];
        long space =
                bytes == 0 || slab.freeRecordCount() >= batch.count ? 0 : slab.allocateSpace(bytes / Slab.UNIT_BYTES);
        if (space != 0) {
            slab.copy(batch.records, 0, space, bytes);
        }
        for (int i = 0; i < batch.count; i++) {
            if (batch.toRemove[i] == null) {
                int begin = batch.begins[i];
                int length = batch.begins[i + 1] - begin;
                if (space != 0) {
                    recordAddresses[i] = space + begin / Slab.UNIT_BYTES;
                } else {
                    recordAddresses[i] = slab.allocateRecord(length / Slab.UNIT_BYTES);
                    slab.copy(batch.records, begin, recordAddresses[i], length);
                }
                counts.count(batch.collections[i], batch.owners[i], batch.shards[i], batch.statuses[i], 1);
                if (batch.survivorCollections[i] >= 0) {
                    counts.countSurvivor(batch.survivorCollections[i], 1);
                }
            }
        }
    }

    /** Prefetches the first slots of all rows. The processor executes these independent reads in parallel. */
    private void prefetchSlots(RowBatch batch) {
        int count = 0;
        for (int i = 0; i < batch.count; i++) {
            if (batch.toRemove[i] == null) {
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
        if (oldRecord == null) {
            digests.add(batch.partitions[i], part, batch.rowHashes[i]);
        } else {
            long oldHash = hasher.hash(oldRecord, 0, batch.textHashes[i]);
            digests.replace(batch.partitions[i], part, oldHash, batch.rowHashes[i]);
        }
        digests.endChange(part);
        Table.Changes changes = listener;
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
        Table.Changes changes = listener;
        if (changes != null) {
            changes.changed(puri, null);
        }
    }

    /** Frees a record that the index of pURIs does not contain any more, and removes its handle if there is one. */
    private void dropRecord(long address, byte[] record, @Nullable HandleKey handle) {
        // If another pURI has got the handle meanwhile, the index has the address of that record, and the entry must
        // stay.
        if (handle != null && handles.seekAddress(handle.hash(), address) != 0) {
            handles.remove(handle.hash());
        }
        RowCodec.count(record, counts, -1);
        slab.freeRecord(address, record.length / Slab.UNIT_BYTES);
    }
}
