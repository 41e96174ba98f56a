package dev.puri.schemas.log;

import dev.puri.benchmarks.micro.StepBenchmark;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.generic.GenericRecord;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Encodes an event like a publisher, decodes it and encodes its row like the topology; also does each with Avro. */
@State(Scope.Thread)
public class AvroBenchmark extends StepBenchmark {
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");
    private static final Puri PURI = Puri.parse("soundcloud:tracks:1000000001");
    private static final Owner OWNER = new Owner("catalog");
    private static final Shard SHARD = new Shard("br-1");
    private static final Handle HANDLE = Handle.parse("trk_4k7vx9tz2nqr8w3");
    private static final Instant TIME = Instant.ofEpochMilli(1_790_000_000_000L);

    private final EventReader reader = new EventReader();
    private final RecordReader<GenericRecord> avroReader = RecordReader.of(IdentityEvent.getClassSchema());
    private final RecordWriter<IdentityEvent> eventWriter = RecordWriter.of(IdentityEvent.class);
    private final RecordWriter<IdentityRow> avroWriter = RecordWriter.of(IdentityRow.class);
    private final Event creation = new Event(
            ID,
            PURI,
            TIME,
            "catalog",
            null,
            null,
            new Change.Created(ID, OWNER, SHARD, HANDLE, Map.of("title", "Track number 1000000001")));
    private final byte[] event = eventWriter.encode(1, EventAvro.toAvro(creation));
    private final Row row = new Row(
            ID,
            OWNER,
            SHARD,
            HANDLE,
            Row.Status.ACTIVE,
            1,
            TIME,
            TIME,
            null,
            new Position(Topics.EVENTS, 3, 1_234_567));

    /** Reads a creation with a handle and one attribute. */
    @Benchmark
    public Event readEvent() {
        return reader.read(PURI, event, eventWriter.schema());
    }

    /** Reads the same event with Avro's decoder. */
    @Benchmark
    public Event readEventByAvro() {
        return EventAvro.fromAvro(avroReader.decode(event, eventWriter.schema()));
    }

    /** Writes the event that {@link #readEvent} reads. */
    @Benchmark
    public byte[] writeEvent() {
        return EventEncoder.encode(1, creation);
    }

    /** Writes the same event with Avro's encoder. */
    @Benchmark
    public byte[] writeEventByAvro() {
        return eventWriter.encode(1, EventAvro.toAvro(creation));
    }

    /** Writes the row of this creation. */
    @Benchmark
    public byte[] writeRow() {
        return RowEncoder.encode(1, row);
    }

    /** Writes the same row with Avro's encoder. */
    @Benchmark
    public byte[] writeRowByAvro() {
        return avroWriter.encode(1, RowAvro.toAvro(row));
    }
}
