package dev.puri.benchmarks.micro;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.data.ResolverRequests;
import dev.puri.resolver.answer.InternalResultWriter;
import dev.puri.resolver.answer.JsonOut;
import dev.puri.resolver.answer.PlainBatch;
import dev.puri.resolver.table.PackedTable;
import dev.puri.schemas.collection.Declarations;
import java.nio.charset.StandardCharsets;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Answers a batch of 100 mixed references, from the bytes of the body to the bytes of the answer, without HTTP. */
@State(Scope.Thread)
@Warmup(iterations = 5, time = 2)
public class BatchBenchmark extends StepBenchmark {
    private static final int BATCHES = 1 << 12;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private PackedTable table = new PackedTable();
    private byte[][] bodies = {};
    private final PlainBatch batch = new PlainBatch();
    private final JsonOut out = new JsonOut();
    private int next;

    /** Fills the table and creates the bodies. */
    @Setup
    public void fill() {
        table = Population.table(rows);
        bodies = new ResolverRequests(rows)
                .batches(BATCHES).stream()
                        .map(body -> body.getBytes(StandardCharsets.US_ASCII))
                        .toArray(byte[][]::new);
    }

    @Benchmark
    public int answer() {
        next = next + 1 & BATCHES - 1;
        batch.read(bodies[next], ResolverRequests.BATCH);
        batch.write(new InternalResultWriter(table, Declarations.none(), out.clear(), batch.byShard()));
        return out.length();
    }
}
