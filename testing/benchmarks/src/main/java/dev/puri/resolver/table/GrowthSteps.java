package dev.puri.resolver.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.report.Timing;
import org.HdrHistogram.Histogram;

/**
 * Fills the memory and the indexes of a table as {@link PackedTable} does, and times each step of growth separately
 * from the rest of a put. A step of growth adds a chunk of memory, or moves a segment of an index to more pages.
 */
public final class GrowthSteps {
    private final Slab slab = new Slab();
    private final Index names = new Index(slab);
    private final Index handles = new Index(slab);
    private final Histogram nanos = Timing.histogram();

    private GrowthSteps() {}

    /** Returns the time of each step of growth, in nanoseconds, until the table has this number of rows. */
    public static Histogram ofRows(int rows) {
        GrowthSteps steps = new GrowthSteps();
        try (steps.slab) {
            steps.fill(rows);
        }
        return steps.nanos;
    }

    private void fill(int rows) {
        Dictionaries dictionaries = new Dictionaries();
        RowCodec codec = new RowCodec(dictionaries);
        RawRow raw = new RawRow(dictionaries, 1);
        byte[] record = new byte[RowCodec.MAX_BYTES];
        for (int number = 0; number < rows; number++) {
            raw.set(Population.puri(number), Population.row(number, 0));
            int length = codec.encode(raw, record, 0);
            long address = allocate(length);
            slab.copy(record, 0, address, length);
            insert(handles, raw.handleHash, address);
            insert(names, raw.puriHash, address);
        }
    }

    private long allocate(int length) {
        long bytesBefore = slab.allocatedBytes();
        long startNanos = System.nanoTime();
        long address = slab.allocateRecord(length / Slab.UNIT_BYTES);
        recordIfGrown(System.nanoTime() - startNanos, bytesBefore != slab.allocatedBytes());
        return address;
    }

    /** Inserts an entry. Memory is allocated only when the segment of the entry moves to more pages. */
    private void insert(Index index, long hash, long address) {
        long bytesBefore = slab.bytesInUse();
        long startNanos = System.nanoTime();
        index.insert(hash, address);
        recordIfGrown(System.nanoTime() - startNanos, bytesBefore != slab.bytesInUse());
    }

    private void recordIfGrown(long stepNanos, boolean hasGrown) {
        if (hasGrown) {
            Timing.record(stepNanos, nanos);
        }
    }
}
