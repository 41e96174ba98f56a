package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Random;

/**
 * Measures what digests add to a restore: one {@link RowHash} for each row. When a table puts a row, it has the fields
 * as numbers, and the hashes of owner and shard in its dictionaries. So they are prepared before the clock starts.
 */
final class RowHashes {
    private static final int ROWS = 20_000;
    private static final int REPETITIONS = 100;

    /** A prefix in packed form. */
    private static final int PREFIX = 1;

    private final byte[][] puris = new byte[ROWS][];
    private final long[] uuidHighs = new long[ROWS];
    private final long[] uuidLows = new long[ROWS];
    private final long[] owners = new long[ROWS];
    private final long[] shards = new long[ROWS];
    private final long[] createdMillis = new long[ROWS];
    private final long[] changedMillis = new long[ROWS];
    private final long[] epochs = new long[ROWS];
    private final int[] statuses = new int[ROWS];

    /** Random bits, in place of the packed random characters of handles. */
    private final long[] handles = new Random(1).longs(ROWS).toArray();

    RowHashes() {
        for (int i = 0; i < ROWS; i++) {
            Row row = Population.row(i, 1);
            puris[i] = Population.puri(i).toBytes();
            uuidHighs[i] = row.uuid().getMostSignificantBits();
            uuidLows[i] = row.uuid().getLeastSignificantBits();
            owners[i] = RowHash.ofText(row.owner().text());
            shards[i] = RowHash.ofText(row.shard().text());
            createdMillis[i] = row.createdAt().toEpochMilli();
            changedMillis[i] = row.changedAt().toEpochMilli();
            epochs[i] = row.epoch();
            statuses[i] = row.status().ordinal();
        }
    }

    /** Returns the mean time of a hash that is added to a digest, in nanoseconds. */
    double nanosPerRow() {
        PartitionDigest once = digest(1);
        long startNanos = System.nanoTime();
        PartitionDigest digest = digest(REPETITIONS);
        double nanos = (double) (System.nanoTime() - startNanos) / REPETITIONS / ROWS;
        if (digest.sum() != once.sum() * REPETITIONS) {
            throw new IllegalStateException("equal rows have different digests");
        }
        return nanos;
    }

    private PartitionDigest digest(int repetitions) {
        PartitionDigest digest = PartitionDigest.EMPTY;
        for (int repetition = 0; repetition < repetitions; repetition++) {
            for (int i = 0; i < ROWS; i++) {
                digest = digest.plus(hash(i));
            }
        }
        return digest;
    }

    private long hash(int i) {
        return RowHash.of(
                RowHash.ofText(puris[i]),
                uuidHighs[i],
                uuidLows[i],
                owners[i],
                shards[i],
                RowHash.ofHandle(handles[i], (int) handles[i], PREFIX),
                statuses[i],
                epochs[i],
                createdMillis[i],
                changedMillis[i],
                RowHash.NONE);
    }
}
