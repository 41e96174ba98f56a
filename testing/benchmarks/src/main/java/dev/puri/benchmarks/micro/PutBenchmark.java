package dev.puri.benchmarks.micro;

import dev.puri.benchmarks.data.Population;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Puts prepared rows into a table that already has rows, by one thread. */
public class PutBenchmark extends StepBenchmark {
    private static final int BATCH_SIZE = 20_000;

    /** A table, with the same size before each iteration, and the rows to put into it. */
    @State(Scope.Thread)
    public abstract static class Batch {
        @Param("1000000")
        @SuppressWarnings("unused") // set by JMH
        int rows;

        private final Puri[] puris = new Puri[BATCH_SIZE];
        private final Row[] values = new Row[BATCH_SIZE];
        private PackedTable table = new PackedTable();
        private long version;

        /** Fills a new table. */
        @Setup(Level.Iteration)
        public void fill() {
            table = Population.table(rows);
        }

        void createRows(LongUnaryOperator numbers) {
            version++;
            for (int i = 0; i < BATCH_SIZE; i++) {
                long number = numbers.applyAsLong(i);
                puris[i] = Population.puri(number);
                values[i] = Population.row(number, version);
            }
        }

        long size() {
            return table.rows();
        }

        PackedTable putAll() {
            for (int i = 0; i < BATCH_SIZE; i++) {
                table.put(puris[i], values[i]);
            }
            return table;
        }
    }

    /** Rows whose pURIs the table does not have. */
    @State(Scope.Thread)
    public static class NewRows extends Batch {
        /** Creates the next rows; this is not timed. */
        @Setup(Level.Invocation)
        public void createRows() {
            long first = size();
            createRows(i -> first + i);
        }
    }

    /** Rows whose pURIs the table has. */
    @State(Scope.Thread)
    public static class ExistingRows extends Batch {
        private final Random random = new Random(1);

        /** Creates the next rows; this is not timed. */
        @Setup(Level.Invocation)
        public void createRows() {
            createRows(i -> random.nextInt(rows));
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCH_SIZE)
    public PackedTable insert(NewRows batch) {
        return batch.putAll();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH_SIZE)
    public PackedTable update(ExistingRows batch) {
        return batch.putAll();
    }
}
