package dev.puri.resolver.table;

import dev.puri.benchmarks.data.Population;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Fills a table's memory and indexes as {@link PackedTable} does, and times each step of growth apart from the rest of
 * a put: a chunk that is added, a segment that moves to more pages.
 */
public final class GrowthSteps {
    private final Slab slab = new Slab();
    private final Index names = new Index(slab);
    private final Index handles = new Index(slab);
    private final Histogram nanos = new Histogram(TimeUnit.SECONDS.toNanos(10), 3);

    private GrowthSteps() {}

    /** How long each step took, in ns, until so many rows were there. */
    public static Histogram ofRows(int rows) {
        GrowthSteps steps = new GrowthSteps();
        try (steps.slab) {
            steps.fill(rows);
        }
        return steps.nanos;
    }

    private void fill(int rows) {
        Words words = new Words();
        RowCodec codec = new RowCodec(words);
        RawRow raw = new RawRow(words, 1);
        byte[] record = RowCodec.buffer();
        for (int number = 0; number < rows; number++) {
            raw.set(Population.puri(number), Population.row(number, 0));
            int length = codec.encode(raw, record);
            long address = allocate(length);
            slab.copy(record, 0, address, length);
            insert(handles, raw.handleHash, address);
            insert(names, raw.nameHash, address);
        }
    }

    private long allocate(int length) {
        long before = slab.bytes();
        long begun = System.nanoTime();
        long address = slab.allocateRecord(length / Slab.UNIT);
        took(System.nanoTime() - begun, before != slab.bytes());
        return address;
    }

    /** An entry takes only pages, and takes them only when its segment moves. */
    private void insert(Index index, long hash, long address) {
        long before = slab.bytesInUse();
        long begun = System.nanoTime();
        index.insert(hash, address);
        took(System.nanoTime() - begun, before != slab.bytesInUse());
    }

    private void took(long time, boolean grew) {
        if (grew) {
            nanos.recordValue(Math.min(time, nanos.getHighestTrackableValue()));
        }
    }
}
