package dev.puri.benchmarks;

import dev.puri.resolver.answer.InternalAnswer;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.table.PackedTable;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A batch of 100 mixed references, from the bytes of its body to the bytes of its answer, without HTTP. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
public class BatchBenchmark {
    private static final int BATCHES = 1 << 12;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private PackedTable table = new PackedTable();
    private byte[][] bodies = {};
    private final PlainBatch batch = new PlainBatch();
    private final JsonOut out = new JsonOut();
    private int next;

    /** Fills the table and makes the bodies. */
    @Setup
    public void fill() {
        table = new PackedTable();
        Puts.fresh(table, 0, rows, null);
        bodies = new Questions(rows)
                .batches(BATCHES).stream()
                        .map(body -> body.getBytes(StandardCharsets.US_ASCII))
                        .toArray(byte[][]::new);
    }

    @Benchmark
    public int answer() {
        next = next + 1 & BATCHES - 1;
        batch.read(bodies[next], Questions.BATCH);
        batch.write(new InternalAnswer(table, out.clear(), batch.byShard()));
        return out.length();
    }
}
