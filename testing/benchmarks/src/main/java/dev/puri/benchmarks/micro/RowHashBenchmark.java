package dev.puri.benchmarks.micro;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Computes the hashes that a partition's digest adds up. A table has the hashes of owners and shards in its
 * dictionaries, and the fields of a row as numbers.
 */
public class RowHashBenchmark extends StepBenchmark {
    private static final int ROWS = 20_000;

    /** A prefix in packed form. */
    private static final int PREFIX = 1;

    /** The fields of rows, as the table has them. */
    @State(Scope.Thread)
    public static class Rows {
        private final byte[][] puris = new byte[ROWS][];
        private final Row[] rows = new Row[ROWS];
        private final long[] owners = new long[ROWS];
        private final long[] shards = new long[ROWS];

        /** Random bits, in place of the packed random characters of each handle. */
        private final long[] handleBits = new long[ROWS];

        /** Creates the rows; this is not timed. */
        @Setup
        public void create() {
            Random random = new Random(1);
            for (int i = 0; i < ROWS; i++) {
                Row row = Population.row(i, 1);
                puris[i] = Population.puri(i).toBytes();
                rows[i] = row;
                owners[i] = RowHash.ofText(row.owner().text());
                shards[i] = RowHash.ofText(row.shard().text());
                handleBits[i] = random.nextLong();
            }
        }

        private long hash(int i) {
            Row row = rows[i];
            return RowHash.of(
                    RowHash.ofText(puris[i]),
                    row.uuid().getMostSignificantBits(),
                    row.uuid().getLeastSignificantBits(),
                    owners[i],
                    shards[i],
                    RowHash.ofHandle(handleBits[i], (int) handleBits[i], PREFIX),
                    row.status().ordinal(),
                    row.epoch(),
                    row.createdAt().toEpochMilli(),
                    row.changedAt().toEpochMilli(),
                    RowHash.NONE);
        }
    }

    @Benchmark
    @OperationsPerInvocation(ROWS)
    public long hash(Rows rows) {
        long sum = 0;
        for (int i = 0; i < ROWS; i++) {
            sum += rows.hash(i);
        }
        return sum;
    }
}
