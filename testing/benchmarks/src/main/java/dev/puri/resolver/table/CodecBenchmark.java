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

/** Encodes rows to packed records and decodes them, without a table. */
@State(Scope.Thread)
public class CodecBenchmark extends StepBenchmark {
    /** Number of prepared rows, drawn from as many rows as a table has. */
    private static final int ROWS = 1 << 12;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private final Dictionaries dictionaries = new Dictionaries();
    private final RowCodec codec = new RowCodec(dictionaries);
    private final RecordParser parser = new RecordParser(dictionaries);
    private final RecordParts parts = new RecordParts(dictionaries);
    private final RawRow raw = new RawRow(dictionaries, 1);
    private final byte[] out = new byte[RowCodec.MAX_BYTES];
    private final Puri[] puris = new Puri[ROWS];
    private final Row[] values = new Row[ROWS];
    private final byte[][] topicKeys = new byte[ROWS][];
    private final byte[][] topicValues = new byte[ROWS][];
    private final byte[][] tokens = new byte[ROWS][];
    private final byte[][] records = new byte[ROWS][];
    private int next;

    /** Creates the rows in each of their forms. */
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
            records[i] = Arrays.copyOf(out, codec.encode(raw, out, 0));
            if (!codec.decode(records[i]).equals(new Identity(puris[i], values[i]))
                    || !parser.parse(topicKeys[i], topicValues[i], tokens[i], raw)) {
                throw new IllegalStateException("a decoded row differs from the encoded row: " + puris[i]);
            }
        }
    }

    private int next() {
        next = next + 1 & ROWS - 1;
        return next;
    }

    /** Encodes a pURI and a row. */
    @Benchmark
    public int encode() {
        int i = next();
        raw.set(puris[i], values[i]);
        return codec.encode(raw, out, 0);
    }

    /** Encodes the key and the value of a record of the topic. */
    @Benchmark
    public int encodeFromTopic() {
        int i = next();
        if (!parser.parse(topicKeys[i], topicValues[i], tokens[i], raw)) {
            throw new IllegalStateException("the fast parser does not accept the record");
        }
        return codec.encode(raw, out, 0);
    }

    /** Decodes as a look-up by pURI does. */
    @Benchmark
    public Identity decodeByPuri() {
        int i = next();
        parts.read(records[i]);
        return codec.decode(records[i], parts, puris[i], null);
    }

    /** Decodes as a scan does. */
    @Benchmark
    public Identity decode() {
        return codec.decode(records[next()]);
    }
}
