package dev.puri.benchmarks.micro;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowHash;
import java.util.Objects;
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

    /** The fields of rows, as the table has them. */
    @State(Scope.Thread)
    public static class Rows {
        private final byte[][] puris = new byte[ROWS][];
        private final Row[] rows = new Row[ROWS];
        private final long[] owners = new long[ROWS];
        private final long[] shards = new long[ROWS];

        /** The hash of a handle takes its packed form, which a table has; the random characters are the same size. */
        private final long[] handles = new long[ROWS];

        /** Creates the rows; this is not timed. */
        @Setup
        public void create() {
            for (int i = 0; i < ROWS; i++) {
                Row row = Population.row(i, 1);
                Handle handle = Objects.requireNonNull(row.handle());
                puris[i] = Population.puri(i).toBytes();
                rows[i] = row;
                owners[i] = RowHash.ofText(row.owner().text());
                shards[i] = RowHash.ofText(row.shard().text());
                handles[i] = RowHash.ofHandle(handle);
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
                    RowHash.ofHandle(handles[i], (int) handles[i], row.status().ordinal()),
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
