package dev.puri.resolver.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.micro.StepBenchmark;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Rows to packed records and back, without a table to put them into. */
@State(Scope.Thread)
public class CodecBenchmark extends StepBenchmark {
    /** Rows that take turns, chosen among as many as a table has. */
    private static final int ROWS = 1 << 12;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private final Words words = new Words();
    private final RowCodec codec = new RowCodec(words);
    private final RecordParser parser = new RecordParser(words);
    private final RecordParts parts = new RecordParts(words);
    private final RawRow raw = new RawRow(words, 1);
    private final byte[] out = RowCodec.buffer();
    private final Puri[] puris = new Puri[ROWS];
    private final Row[] values = new Row[ROWS];
    private final byte[][] topicKeys = new byte[ROWS][];
    private final byte[][] topicValues = new byte[ROWS][];
    private final byte[][] tokens = new byte[ROWS][];
    private final byte[][] records = new byte[ROWS][];
    private int next;

    /** Makes the rows in each of their forms. */
    @Setup
    public void make() {
        RecordWriter<IdentityRow> writer = RecordWriter.of(IdentityRow.class);
        Random random = new Random(1);
        for (int i = 0; i < ROWS; i++) {
            int number = random.nextInt(rows);
            puris[i] = Population.puri(number);
            values[i] = Population.row(number, i % 3);
            topicKeys[i] = puris[i].toBytes();
            topicValues[i] = writer.encode(1, RowAvro.toAvro(values[i]));
            tokens[i] = values[i].position().toString().getBytes(StandardCharsets.US_ASCII);
            raw.set(puris[i], values[i]);
            records[i] = Arrays.copyOf(out, codec.encode(raw, out));
            if (!codec.decode(records[i]).equals(new Identity(puris[i], values[i]))
                    || !parser.parse(topicKeys[i], topicValues[i], tokens[i], raw)) {
                throw new IllegalStateException("not what was encoded: " + puris[i]);
            }
        }
    }

    private int next() {
        next = next + 1 & ROWS - 1;
        return next;
    }

    /** From a name and a row. */
    @Benchmark
    public int encode() {
        int i = next();
        raw.set(puris[i], values[i]);
        return codec.encode(raw, out);
    }

    /** From key and value of a record of the topic. */
    @Benchmark
    public int encodeFromTopic() {
        int i = next();
        if (!parser.parse(topicKeys[i], topicValues[i], tokens[i], raw)) {
            throw new IllegalStateException("not taken at a glance");
        }
        return codec.encode(raw, out);
    }

    /** As look-ups do by a name. */
    @Benchmark
    public Identity decodeByPuri() {
        int i = next();
        parts.read(records[i]);
        return codec.decode(records[i], parts, puris[i], null);
    }

    /** As scans do. */
    @Benchmark
    public Identity decode() {
        return codec.decode(records[next()]);
    }
}
