package dev.puri.resolver.table;

import dev.puri.schemas.log.PartitionDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Finds damaged memory of a table: records that differ from the digests that the writer keeps, and index entries that
 * lead to a record with another pURI or handle. A call checks one part: the segment with this number of the index of
 * pURIs, or of the index of handles. Thread-safe.
 */
final class MemoryCheck {
    /** Marks a damaged record; used instead of its hash. An intact row has this hash with a probability of 2⁻⁶⁴. */
    private static final long DAMAGED = 0;

    /** The partition under which a damaged record is reported, because its own partition cannot be read. */
    private static final int UNKNOWN_PARTITION = 0;

    private final TableMemory memory;
    private final PartDigests digests;

    /**
     * @param digests the digests that the writer keeps
     */
    MemoryCheck(TableMemory memory, PartDigests digests) {
        this.memory = memory;
        this.digests = digests;
    }

    /** See {@link PackedTable#checkRows}. */
    PartCheck checkRows(int part, int partitions) {
        long sequence = digests.sequence(part);
        PartitionDigest expected = digests.ofPart(part);
        RecordHasher hasher = new RecordHasher(memory.dictionaries());
        // During the hold, no word of a record is removed from the dictionaries.
        try (Dictionaries.Hold hold = memory.dictionaries().hold()) {
            SegmentEntries entries = memory.puris().read(part);
            int rows = entries.records().size();
            PartitionDigest stored = PartitionDigest.EMPTY;
            for (int i = 0; i < rows; i++) {
                stored = stored.plus(hash(entries, i, part, hasher));
            }
            if (!digests.isUnchanged(part, sequence)) {
                return PartCheck.incomplete(rows);
            }
            List<Integer> differingPartitions =
                    stored.equals(expected) ? List.of() : differingPartitions(entries, part, partitions, hasher);
            return digests.isUnchanged(part, sequence)
                    ? PartCheck.complete(rows, differingPartitions)
                    : PartCheck.incomplete(rows);
        }
    }

    /**
     * Returns the hash of a record. Returns {@link #DAMAGED} if the record cannot be decoded, or if a look-up of its
     * pURI would not find this index entry. Other damage to the record changes the hash.
     */
    private long hash(SegmentEntries entries, int i, int part, RecordHasher hasher) {
        try {
            long hash = hasher.hash(entries.records().get(i), 0);
            return entries.isFoundBy(hasher.indexHash(memory.seed()), i, part) ? hash : DAMAGED;
        } catch (RuntimeException e) {
            // A damaged record may have invalid lengths and codes.
            return DAMAGED;
        }
    }

    /** Returns the partitions whose stored rows in a part differ from their digest. */
    private List<Integer> differingPartitions(SegmentEntries entries, int part, int partitions, RecordHasher hasher) {
        int count = Math.max(partitions, digests.partitions());
        PartitionDigest[] stored = new PartitionDigest[count];
        Arrays.fill(stored, PartitionDigest.EMPTY);
        for (int i = 0; i < entries.records().size(); i++) {
            long hash = hash(entries, i, part, hasher);
            if (hash != DAMAGED) {
                int partition = hasher.partition(partitions);
                stored[partition] = stored[partition].plus(hash);
            }
        }
        return IntStream.range(0, count)
                .filter(partition -> !stored[partition].equals(digests.of(partition, part)))
                .boxed()
                .toList();
    }

    /** See {@link PackedTable#checkHandles}. */
    PartCheck checkHandles(int part, int partitions) {
        RecordHasher hasher = new RecordHasher(memory.dictionaries());
        // During the hold, no word of a record is removed from the dictionaries.
        try (Dictionaries.Hold hold = memory.dictionaries().hold()) {
            SegmentEntries entries = memory.handles().read(part);
            Set<Integer> differingPartitions = new TreeSet<>();
            if (entries.hasDamaged()) {
                differingPartitions.add(UNKNOWN_PARTITION);
            }
            for (int i = 0; i < entries.records().size(); i++) {
                byte[] record = entries.records().get(i);
                if (!hasHandleOfEntry(record, entries, i, part)) {
                    differingPartitions.add(partition(record, partitions, hasher));
                }
            }
            return PartCheck.complete(entries.records().size(), List.copyOf(differingPartitions));
        }
    }

    private boolean hasHandleOfEntry(byte[] record, SegmentEntries entries, int i, int part) {
        try {
            HandleKey handle = HandleKey.of(record, memory.dictionaries(), memory.seed());
            return handle != null && entries.isFoundBy(handle.hash(), i, part);
        } catch (RuntimeException e) {
            // A damaged record may be shorter than its handle.
            return false;
        }
    }

    /** Returns the partition of a record; {@link #UNKNOWN_PARTITION} if the record is damaged. */
    private static int partition(byte[] record, int partitions, RecordHasher hasher) {
        try {
            // The hasher notes the pURI of the record, from which it computes the partition.
            long unused = hasher.hash(record, 0);
            return hasher.partition(partitions);
        } catch (RuntimeException e) {
            return UNKNOWN_PARTITION;
        }
    }
}
