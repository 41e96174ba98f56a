package dev.puri.resolver.table;

import dev.puri.schemas.log.PartitionDigest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The digests of a table: a {@link PartitionDigest} for each partition of the topic and each part of the table. A part
 * is a segment of the index of pURIs. The digest of a partition is the sum over the parts; the registrar publishes it
 * too. The digest of a part is the sum over the partitions; it can be recomputed from the rows of the part.
 *
 * <p>One thread writes. Each part has a sequence number, which is odd while the rows and the digest of the part change.
 * A reader that saw the same even number before and after reading has read a digest that matches the rows. There is
 * another sequence number for batches, for readers of whole partitions.
 */
final class PartDigests {
    static final int PARTS = Index.SEGMENTS;

    /** The number of bytes of a partition's digests in a snapshot. */
    static final int BYTES_OF_PARTITION = PARTS * 2 * Long.BYTES;

    /** Bounds the wait for a pause between two batches. A batch takes about 0.3 ms. */
    private static final long MAX_WAIT_NANOS = 10_000_000;

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] sequences = new long[PARTS];

    /** Its only element is the sequence number of batches. */
    private final long[] batchSequence = new long[1];

    /**
     * By partition: the number of rows and the sum of the hashes of each part. The cells of a partition are adjacent,
     * because a restore reads one partition after the other. Replaced to add a partition.
     */
    private volatile long[][] cells = {};

    /** Must be called before a row of the part is added or removed. */
    void beginChange(int part) {
        begin(sequences, part);
    }

    /** Must be called after the row and the digest were changed. */
    void endChange(int part) {
        LONGS.setRelease(sequences, part, sequences[part] + 1);
    }

    void beginBatch() {
        begin(batchSequence, 0);
    }

    void endBatch() {
        LONGS.setRelease(batchSequence, 0, batchSequence[0] + 1);
    }

    private static void begin(long[] counters, int index) {
        LONGS.setOpaque(counters, index, counters[index] + 1);
        // No later write may become visible before the odd number.
        VarHandle.storeStoreFence();
    }

    void add(int partition, int part, long hash) {
        add(partition, part, 1, hash);
    }

    void subtract(int partition, int part, long hash) {
        add(partition, part, -1, -hash);
    }

    void replace(int partition, int part, long oldHash, long newHash) {
        add(partition, part, 0, newHash - oldHash);
    }

    private void add(int partition, int part, long rows, long sum) {
        long[] ofPartition = partition < cells.length ? cells[partition] : addPartition(partition);
        int cell = 2 * part;
        LONGS.setOpaque(ofPartition, cell, ofPartition[cell] + rows);
        LONGS.setOpaque(ofPartition, cell + 1, ofPartition[cell + 1] + sum);
    }

    private long[] addPartition(int partition) {
        long[][] extended = Arrays.copyOf(cells, partition + 1);
        for (int added = cells.length; added <= partition; added++) {
            extended[added] = new long[2 * PARTS];
        }
        cells = extended;
        return extended[partition];
    }

    /** Returns the number of partitions that have had rows, or a greater number. */
    int partitions() {
        return cells.length;
    }

    /**
     * Returns the digest of a partition, as of the end of a batch. While batches follow each other without a pause for
     * a long time, the digest may belong to no exact offset. The writing thread calls this only between batches.
     */
    PartitionDigest ofPartition(int partition) {
        long startNanos = System.nanoTime();
        while (true) {
            long sequence = (long) LONGS.getAcquire(batchSequence, 0);
            boolean isTooLate = System.nanoTime() - startNanos > MAX_WAIT_NANOS;
            if ((sequence & 1) != 0 && !isTooLate) {
                Thread.onSpinWait();
                continue;
            }
            PartitionDigest digest = PartitionDigest.EMPTY;
            for (int part = 0; part < PARTS; part++) {
                digest = digest.plus(of(partition, part));
            }
            if (isEvenAndUnchanged(batchSequence, 0, sequence) || isTooLate) {
                return digest;
            }
        }
    }

    /** Returns the digest of a part, over all partitions. */
    PartitionDigest ofPart(int part) {
        PartitionDigest digest = PartitionDigest.EMPTY;
        for (int partition = 0; partition < cells.length; partition++) {
            digest = digest.plus(of(partition, part));
        }
        return digest;
    }

    /** Returns the digest of the rows of a partition in a part. */
    PartitionDigest of(int partition, int part) {
        long[][] current = cells;
        if (partition >= current.length) {
            return PartitionDigest.EMPTY;
        }
        return new PartitionDigest((long) LONGS.getOpaque(current[partition], 2 * part), (long)
                LONGS.getOpaque(current[partition], 2 * part + 1));
    }

    /** Returns the sequence number of a part, to be compared by {@link #isUnchanged}. */
    long sequence(int part) {
        return (long) LONGS.getAcquire(sequences, part);
    }

    /** Returns whether nothing changed the part since the sequence number was read. */
    boolean isUnchanged(int part, long sequence) {
        return isEvenAndUnchanged(sequences, part, sequence);
    }

    private static boolean isEvenAndUnchanged(long[] counters, int index, long sequence) {
        VarHandle.loadLoadFence();
        return (sequence & 1) == 0 && (long) LONGS.getOpaque(counters, index) == sequence;
    }

    /**
     * Copies the digests of a part, unless the part has changed since its sequence number was read. This object must not
     * have digests of the part yet.
     *
     * @return whether the digests were copied
     */
    boolean copyUnchanged(PartDigests from, int part, long sequence) {
        PartitionDigest[] copies = new PartitionDigest[from.partitions()];
        Arrays.setAll(copies, partition -> from.of(partition, part));
        if (!from.isUnchanged(part, sequence)) {
            return false;
        }
        for (int partition = 0; partition < copies.length; partition++) {
            add(partition, part, copies[partition].rows(), copies[partition].sum());
        }
        return true;
    }

    /** Writes the digests of partitions; {@link #BYTES_OF_PARTITION} for each. */
    void put(int partitions, ByteBuffer out) {
        for (int partition = 0; partition < partitions; partition++) {
            for (int part = 0; part < PARTS; part++) {
                PartitionDigest digest = of(partition, part);
                out.putLong(digest.rows()).putLong(digest.sum());
            }
        }
    }

    /** Reads what {@link #put} wrote, before other threads read this object. */
    void load(int partitions, ByteBuffer in) {
        for (int partition = 0; partition < partitions; partition++) {
            for (int part = 0; part < PARTS; part++) {
                add(partition, part, in.getLong(), in.getLong());
            }
        }
    }
}
