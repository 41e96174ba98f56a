package dev.puri.benchmarks.data;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Random;
import java.util.function.IntToLongFunction;

/**
 * Measures what digests add to a server: one {@link RowHash} for each row that it writes. Each result is the mean time
 * of a hash that is added to a digest, in nanoseconds.
 */
public final class RowHashes {
    private static final int ROWS = 20_000;
    private static final int REPETITIONS = 100;

    /** A prefix in packed form. */
    private static final int PREFIX = 1;

    private final Puri[] puris = new Puri[ROWS];
    private final Row[] rows = new Row[ROWS];
    private final byte[][] puriTexts = new byte[ROWS][];
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

    /** Creates rows, and their fields as numbers. */
    public RowHashes() {
        for (int i = 0; i < ROWS; i++) {
            Puri puri = Population.puri(i);
            Row row = Population.row(i, 1);
            puris[i] = puri;
            rows[i] = row;
            puriTexts[i] = puri.toBytes();
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

    /** Measures the hash of a row object, as the registrar computes it. */
    public double nanosInRegistrar() {
        return nanos(i -> RowHash.of(puris[i], rows[i]));
    }

    /**
     * Measures the hash of a row as a table computes it. When it puts a row, it has the fields as numbers, and the
     * hashes of owner and shard in its dictionaries.
     */
    public double nanosInTable() {
        return nanos(i -> RowHash.of(
                RowHash.ofText(puriTexts[i]),
                uuidHighs[i],
                uuidLows[i],
                owners[i],
                shards[i],
                RowHash.ofHandle(handles[i], (int) handles[i], PREFIX),
                statuses[i],
                epochs[i],
                createdMillis[i],
                changedMillis[i],
                RowHash.NONE));
    }

    private static double nanos(IntToLongFunction hash) {
        PartitionDigest once = digest(hash, 1);
        long startNanos = System.nanoTime();
        PartitionDigest digest = digest(hash, REPETITIONS);
        double nanos = (double) (System.nanoTime() - startNanos) / REPETITIONS / ROWS;
        if (digest.sum() != once.sum() * REPETITIONS) {
            throw new IllegalStateException("equal rows have different digests");
        }
        return nanos;
    }

    private static PartitionDigest digest(IntToLongFunction hash, int repetitions) {
        PartitionDigest digest = PartitionDigest.EMPTY;
        for (int repetition = 0; repetition < repetitions; repetition++) {
            for (int i = 0; i < ROWS; i++) {
                digest = digest.plus(hash.applyAsLong(i));
            }
        }
        return digest;
    }
}
