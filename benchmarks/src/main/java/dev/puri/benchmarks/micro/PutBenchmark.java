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

/** Puts rows, made beforehand, into a table that has rows already; by one thread. */
public class PutBenchmark extends StepBenchmark {
    private static final int AT_ONCE = 20_000;

    /** A table, of the same size before each iteration, and the rows to put into it. */
    @State(Scope.Thread)
    public abstract static class Next {
        @Param("1000000")
        @SuppressWarnings("unused") // set by JMH
        int rows;

        private final Puri[] puris = new Puri[AT_ONCE];
        private final Row[] values = new Row[AT_ONCE];
        private PackedTable table = new PackedTable();
        private long version;

        /** Makes the table. */
        @Setup(Level.Iteration)
        public void fill() {
            table = Population.table(rows);
        }

        void make(LongUnaryOperator numbers) {
            version++;
            for (int i = 0; i < AT_ONCE; i++) {
                long number = numbers.applyAsLong(i);
                puris[i] = Population.puri(number);
                values[i] = Population.row(number, version);
            }
        }

        long size() {
            return table.rows();
        }

        PackedTable putAll() {
            for (int i = 0; i < AT_ONCE; i++) {
                table.put(puris[i], values[i]);
            }
            return table;
        }
    }

    /** Names that the table does not have. */
    @State(Scope.Thread)
    public static class Fresh extends Next {
        /** Makes the next ones, which is not timed. */
        @Setup(Level.Invocation)
        public void make() {
            long first = size();
            make(i -> first + i);
        }
    }

    /** Names that the table has. */
    @State(Scope.Thread)
    public static class Known extends Next {
        private final Random random = new Random(1);

        /** Makes the next ones, which is not timed. */
        @Setup(Level.Invocation)
        public void make() {
            make(i -> random.nextInt(rows));
        }
    }

    @Benchmark
    @OperationsPerInvocation(AT_ONCE)
    public PackedTable fresh(Fresh next) {
        return next.putAll();
    }

    @Benchmark
    @OperationsPerInvocation(AT_ONCE)
    public PackedTable update(Known next) {
        return next.putAll();
    }
}
